// SPDX-License-Identifier: Apache-2.0
// Reads RecordIO files, whole or by position.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/input_file.h"
#include "io/record_format.h"

namespace mxnet::io {

// What is read is checked, never believed: no damaged file does more than throw.
enum class OnDamage : uint8_t {
  kThrow,  // Error(kValue) with file and offset
  kSkip,   // go on at the next magic that starts a record, and count
};

struct SkippedRecords {
  uint64_t places = 0;  // how often something damaged was passed over
  uint64_t bytes = 0;   // how many bytes were
};

// Not thread-safe; any number of readers may read one file.
class RecordReader {
 public:
  explicit RecordReader(const std::string& path, OnDamage on_damage = OnDamage::kThrow);

  // The next record, good until the next call; nothing at the end of the file.
  std::optional<std::string_view> next();
  // Where the next record starts. `seek` takes what `tell` of a reader or a writer gave.
  uint64_t tell() const { return position_; }
  void seek(uint64_t position) { position_ = position; }

  const std::string& path() const { return file_.path(); }
  const SkippedRecords& skipped() const { return skipped_; }
  void set_on_damage(OnDamage on_damage) { on_damage_ = on_damage; }

  // As next(), without its bytes: only headers are looked at. False at the end of the file.
  bool skip_record();
  // Where the record that next() or skip_record() dealt with last starts.
  uint64_t started_at() const { return started_at_; }

 private:
  struct Damage {
    uint64_t offset;
    std::string message;
  };
  // A part's header and payload, or what is wrong with them.
  std::optional<Damage> read_header(uint64_t offset, PartHeader* header);
  std::optional<Damage> read_record(std::string_view* record);
  std::optional<Damage> read_parts(PartHeader first, std::string_view* record);
  // Up to `bytes` bytes at `offset` in memory, fewer only at the end of the file.
  std::string_view window(uint64_t offset, std::size_t bytes);
  // The next record, if nothing has to be read or said for it; else null. Most are of that kind.
  std::string_view whole_record_in_window();
  // At the next place from `offset` on that may start a record, or at the end.
  void resume_after(const Damage& damage);

  InputFile file_;
  OnDamage on_damage_;
  uint64_t position_ = 0, started_at_ = 0;
  SkippedRecords skipped_;
  std::string joined_;  // a record of several parts
  // The bytes [start_, start_ + filled_) of the file.
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0, filled_ = 0;
  uint64_t start_ = 0;
  std::size_t read_ahead_;
};

}  // namespace mxnet::io
