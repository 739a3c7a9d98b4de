// SPDX-License-Identifier: Apache-2.0
// Where saved arrays go: memory, or a file that appears whole or not at all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/destination.h"
#include "ndarray/transfer.h"

namespace mxnet {

inline constexpr const char* kArrayFileTag = "NDArray file";

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(const void* data, std::size_t bytes) = 0;
  template <class T>
  void put(T value) {
    write(&value, sizeof value);
  }
};

class StringSink final : public ByteSink {
 public:
  void write(const void* data, std::size_t bytes) override {
    text_.append(static_cast<const char*>(data), bytes);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Writes a temporary file beside `path`; commit() makes it durable and moves it into place. Without
// commit, an error, an interrupt or a killed process, whatever stood at `path` stays as it was.
// What cannot be replaced (a pipe, /dev/stdout, a file whose folder takes no other) is written
// directly. Every call may throw Error naming the path and the system's reason, and ends by an
// interrupt.
class AtomicFileSink final : public ByteSink {
 public:
  // `tag` names the subsystem that complains; a literal.
  explicit AtomicFileSink(const std::string& path, const char* tag = kArrayFileTag);
  ~AtomicFileSink() override;
  AtomicFileSink(const AtomicFileSink&) = delete;
  AtomicFileSink& operator=(const AtomicFileSink&) = delete;

  void write(const void* data, std::size_t bytes) override;
  void commit();

 private:
  bool open_beside();
  void open_in_place();
  void flush();
  void write_through(const char* data, std::size_t bytes);
  [[noreturn]] void fail(const char* what, int error) const;

  const char* tag_;
  std::string shown_path_;  // as the caller gave it
  Destination target_;
  std::string temporary_;  // empty when written directly
  int fd_ = -1;
  Transfer transfer_;
  std::vector<char> buffer_;  // small fields are gathered
};

}  // namespace mxnet
