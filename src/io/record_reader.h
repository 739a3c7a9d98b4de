// SPDX-License-Identifier: Apache-2.0
// Reads RecordIO files, whole or by position.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
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
  std::optional<std::string_view> next() {
    if (const std::string_view record = next_in_window(); record.data() != nullptr) return record;
    return next_beyond_window();
  }
  // The same, if nothing has to be read or said for it; else null, and nothing has changed. Most
  // records are of that kind, and small ones cost no more than this.
  std::string_view next_in_window();
  // Where the next record starts. `seek` takes what `tell` of a reader or a writer gave.
  uint64_t tell() const { return next_ != kNoHead ? offset_of(next_) : beyond_; }
  void seek(uint64_t position) {
    const bool inside = position >= start_ && position - start_ < filled_ && position % 4 == 0 &&
                        filled_ <= kLongestRecord;
    next_ = inside ? data_ + (position - start_) : kNoHead;
    limit_ = inside ? data_ + filled_ : kNoHead;
    beyond_ = position;
  }

  // What next() has returned so far stays good as long as the reader. Once: memory is kept for it.
  void leave_window();

  const std::string& path() const { return file_.path(); }
  const SkippedRecords& skipped() const { return skipped_; }
  void set_on_damage(OnDamage on_damage) { on_damage_ = on_damage; }

  // As next(), without its bytes: only headers are looked at. False at the end of the file.
  bool skip_record();
  // Where the record that next() or skip_record() dealt with last starts.
  uint64_t started_at() const { return started_ != nullptr ? offset_of(started_) : started_at_; }

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
  std::optional<std::string_view> next_beyond_window();
  // At the next place from `offset` on that may start a record, or at the end.
  void resume_after(const Damage& damage);

  uint64_t offset_of(const char* place) const {
    return start_ + static_cast<uint64_t>(place - data_);
  }
  // The record at the next place is the one that is dealt with.
  void start_here() {
    started_ = nullptr;
    started_at_ = tell();
  }

  // What each record needs: where the next one starts and the end of the window, behind which a
  // head's bytes are readable. next_in_window() looks at nothing else, so both are kNoHead while
  // that place, `beyond_`, is outside of the window, while it is no multiple of four, and while the
  // window is longer than any record.
  static constexpr char kNoHead[sizeof(PartHeader)] = {};
  const char* next_ = kNoHead;
  const char* limit_ = kNoHead;
  // In the window, or null: started_at_.
  const char* started_ = nullptr;
  uint64_t beyond_ = 0, started_at_ = 0;

  InputFile file_;
  OnDamage on_damage_;
  SkippedRecords skipped_;
  std::string joined_;  // a record of several parts
  // Bytes lie as far from a line of the cache as in the file: where a copy's target is some bytes
  // above its source, counted within pages, the kernel's copy takes a quarter longer.
  static constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(char* memory) const { ::operator delete[](memory, std::align_val_t{kLine}); }
  };
  using Buffer = std::unique_ptr<char[], Free>;
  // The bytes [start_, start_ + filled_) of the file, at `data_`, which lies in `buffer_`.
  Buffer buffer_, left_;
  std::string left_joined_;
  char* data_ = nullptr;
  std::size_t capacity_ = 0, filled_ = 0;
  uint64_t start_ = 0;
  std::size_t read_ahead_;
};

inline std::string_view RecordReader::next_in_window() {
  const char* const head = next_;
  uint32_t magic, length;  // of a whole record, whose kind is 0
  std::memcpy(&magic, head, sizeof magic);
  std::memcpy(&length, head + sizeof magic, sizeof length);
  // The next record's place waits for nothing but this one's length, and heads lie at multiples of
  // four here as in the file. A part of another kind has a length that is beyond any limit.
  const auto place = reinterpret_cast<std::uintptr_t>(head);
  const auto next = padded_length(place + sizeof(PartHeader) + length);
  if (magic != kRecordMagic) [[unlikely]]
    return {};
  if (next > reinterpret_cast<std::uintptr_t>(limit_)) [[unlikely]]
    return {};
  next_ = reinterpret_cast<const char*>(next);
  started_ = head;
  return {head + sizeof(PartHeader), length};
}

}  // namespace mxnet::io
