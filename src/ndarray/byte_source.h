// SPDX-License-Identifier: Apache-2.0
// Where arrays are loaded from: bytes whose number is known beforehand, so that no size field of a
// broken file is believed beyond what the file can hold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ndarray/transfer.h"

namespace mxnet {

// A position in `size()` bytes. Errors are Error(kValue) that name source and offset.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  const std::string& name() const { return name_; }
  uint64_t offset() const { return offset_; }
  uint64_t remaining() const { return size_ - offset_; }

  // Exactly `bytes` bytes, or an error saying that `what` is cut off.
  void read(void* to, uint64_t bytes, const char* what);
  template <class T>
  T get(const char* what) {
    T value;
    read(&value, sizeof value, what);
    return value;
  }
  // "given 'name' at offset: message".
  [[noreturn]] void fail(uint64_t offset, const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const { fail(offset_, message); }

 protected:
  ByteSource(std::string name, uint64_t size) : name_(std::move(name)), size_(size) {}
  // REQUIRES: bytes <= remaining().
  virtual void fetch(void* to, uint64_t offset, uint64_t bytes) = 0;

 private:
  std::string name_;
  uint64_t size_;
  uint64_t offset_ = 0;
};

class BufferSource final : public ByteSource {
 public:
  // Borrows the bytes.
  BufferSource(const void* data, std::size_t bytes, std::string name = "<buffer>");

 private:
  void fetch(void* to, uint64_t offset, uint64_t bytes) override;
  const char* data_;
};

// Reads with pread, never by mapping: a file that shrinks meanwhile is an error, not a signal. What
// has no size (a pipe) is read to its end first. An interrupt ends any of it.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

 private:
  struct Opened {
    int fd;
    uint64_t size;
    std::vector<char> content;  // of what has no size
    bool whole;
  };
  FileSource(const std::string& path, Opened opened);
  static Opened open(const std::string& path);
  uint64_t read_some(char* to, uint64_t offset, uint64_t bytes);
  void fetch(void* to, uint64_t offset, uint64_t bytes) override;

  int fd_;
  Transfer transfer_;
  std::vector<char> buffer_;  // the bytes from buffer_start_ on
  uint64_t buffer_start_ = 0;
  bool whole_;  // buffer_ is everything
};

}  // namespace mxnet
