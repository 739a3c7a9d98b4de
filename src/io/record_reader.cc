// SPDX-License-Identifier: Apache-2.0
// The RecordIO reader: one window of the file in memory; records of one part are views of it.
#include "io/record_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/log.h"

namespace mxnet::io {
namespace {

// How much is read at once: little after a jump, twice as much each time while reading goes on in
// order, up to where the kernel copies fastest.
constexpr std::size_t kLeastAhead = 16 << 10, kMostAhead = 2 << 20;

}  // namespace

RecordReader::RecordReader(const std::string& path, OnDamage on_damage)
    : file_(path, "RecordIO"), on_damage_(on_damage), read_ahead_(kLeastAhead) {}

std::string_view RecordReader::window(uint64_t offset, std::size_t bytes) {
  // In differences: any offset may be given, also one that wraps when something is added to it.
  if (offset >= start_ && bytes <= filled_ && offset - start_ <= filled_ - bytes)
    return {data_ + (offset - start_), bytes};
  const uint64_t position = tell(), started = started_at();
  // What is there already is kept in front; a jump starts small again.
  const bool continues = offset >= start_ && offset <= start_ + filled_;
  const std::size_t kept = continues ? static_cast<std::size_t>(start_ + filled_ - offset) : 0;
  read_ahead_ = continues ? std::min(read_ahead_ * 2, kMostAhead) : kLeastAhead;
  const std::size_t wanted = std::max(bytes, read_ahead_);
  // A false length must not cost memory that the file cannot fill.
  const uint64_t size = file_.size();
  const auto available =
      static_cast<std::size_t>(std::min<uint64_t>(wanted, offset < size ? size - offset : 0));
  const std::size_t target = std::max(available, kept);
  const std::size_t lead = offset % kLine;
  const char* const old = kept == 0 ? nullptr : data_ + (offset - start_);
  Buffer larger;
  const std::size_t needed = kLine + target + sizeof(PartHeader);
  if (needed > capacity_) {
    larger.reset(static_cast<char*>(::operator new[](needed, std::align_val_t{kLine})));
    capacity_ = needed;
  }
  // No pointer into a window that is being changed, whatever the reading throws.
  next_ = limit_ = kNoHead;
  started_ = nullptr;
  beyond_ = position;
  started_at_ = started;
  data_ = (larger ? larger : buffer_).get() + lead;
  if (kept > 0) std::memmove(data_, old, kept);
  if (larger) buffer_ = std::move(larger);
  start_ = offset;
  filled_ = kept;
  filled_ += file_.read_at(offset + kept, data_ + kept, target - kept);
  std::memset(data_ + filled_, 0, sizeof(PartHeader));
  seek(position);
  return {data_, std::min(bytes, filled_)};
}

void RecordReader::leave_window() {
  const uint64_t position = tell();
  started_at_ = started_at();
  started_ = nullptr;
  left_ = std::move(buffer_);
  left_joined_ = std::move(joined_);
  joined_.clear();
  data_ = nullptr;
  capacity_ = filled_ = 0;
  start_ = 0;
  seek(position);
}

std::optional<RecordReader::Damage> RecordReader::read_header(uint64_t offset, PartHeader* header) {
  const std::string_view bytes = window(offset, sizeof *header);
  if (bytes.size() < sizeof *header) {
    return Damage{offset, fmt::format("a record's head is cut off after {} bytes", bytes.size())};
  }
  std::memcpy(header, bytes.data(), sizeof *header);
  if (header->magic != kRecordMagic)
    return Damage{offset, fmt::format("no record starts here: found {:#010x}, expected {:#010x}",
                                      header->magic, kRecordMagic)};
  return std::nullopt;
}

std::optional<RecordReader::Damage> RecordReader::read_record(std::string_view* record) {
  PartHeader header{};
  const uint64_t position = tell();
  if (auto damage = read_header(position, &header)) return damage;
  if (!header.starts_record())
    return Damage{position, fmt::format("a part of kind {} without a first part", header.kind())};
  if (header.kind() == static_cast<uint32_t>(PartKind::kFirst)) return read_parts(header, record);
  const std::size_t stored = sizeof header + padded_length(header.length());
  const std::string_view bytes = window(position, stored);
  if (bytes.size() < stored) {
    return Damage{position, fmt::format("a record of {} bytes is cut off after {}", header.length(),
                                        bytes.size() - sizeof header)};
  }
  *record = bytes.substr(sizeof header, header.length());
  seek(position + stored);
  return std::nullopt;
}

std::optional<RecordReader::Damage> RecordReader::read_parts(PartHeader header,
                                                             std::string_view* record) {
  joined_.clear();
  joined_.reserve(kLine);  // never within the string itself: leave_window() moves it
  const uint64_t position = tell();
  uint64_t offset = position;
  for (;;) {
    const std::size_t stored = sizeof header + padded_length(header.length());
    const std::string_view bytes = window(offset, stored);
    if (bytes.size() < stored)
      return Damage{position, fmt::format("a record is cut off in its part at byte {}", offset)};
    joined_.append(bytes.substr(sizeof header, header.length()));
    offset += stored;
    if (header.kind() == static_cast<uint32_t>(PartKind::kLast)) break;
    if (auto damage = read_header(offset, &header)) {
      damage->offset = position;
      damage->message =
          fmt::format("a record without its last part, at byte {}: {}", offset, damage->message);
      return damage;
    }
    if (header.starts_record() || header.kind() > static_cast<uint32_t>(PartKind::kLast)) {
      return Damage{position,
                    fmt::format("a record without its last part: at byte {} is a part of kind {}",
                                offset, header.kind())};
    }
    constexpr uint32_t kMagic = kRecordMagic;
    joined_.append(reinterpret_cast<const char*>(&kMagic), sizeof kMagic);
  }
  *record = joined_;
  seek(offset);
  return std::nullopt;
}

std::optional<std::string_view> RecordReader::next_beyond_window() {
  for (;;) {
    if (window(tell(), 1).empty()) return std::nullopt;
    start_here();
    std::string_view record;
    const std::optional<Damage> damage = read_record(&record);
    if (!damage) return record;
    if (on_damage_ == OnDamage::kThrow) file_.fail(damage->offset, damage->message);
    resume_after(*damage);
  }
}

bool RecordReader::skip_record() {
  for (;;) {
    const uint64_t position = tell();
    if (window(position, 1).empty()) return false;
    start_here();
    PartHeader header{};
    std::optional<Damage> damage = read_header(position, &header);
    if (!damage && header.kind() == static_cast<uint32_t>(PartKind::kWhole)) {
      // Only the head is in memory: the next one is read where it lies.
      const uint64_t end = position + sizeof header + padded_length(header.length());
      if (end <= file_.size()) {
        seek(end);
        return true;
      }
      damage = Damage{position, fmt::format("a record of {} bytes is cut off", header.length())};
    } else if (!damage) {
      std::string_view record;
      damage = read_record(&record);
      if (!damage) return true;
    }
    if (on_damage_ == OnDamage::kThrow) file_.fail(damage->offset, damage->message);
    resume_after(*damage);
  }
}

void RecordReader::resume_after(const Damage& damage) {
  // Heads lie at multiples of four bytes, because every part is padded to such.
  uint64_t at = (damage.offset & ~uint64_t{3}) + 4;
  for (;;) {
    const std::string_view bytes = window(at, kMostAhead);
    const std::size_t found = find_magic(bytes.data(), bytes.size(), 0);
    if (found == bytes.size()) {
      at += bytes.size() & ~std::size_t{3};
      if (bytes.size() < kMostAhead) {  // the end of the file
        at += bytes.size() & 3;
        break;
      }
      continue;
    }
    at += found;
    PartHeader header{};
    if (!read_header(at, &header) && header.starts_record()) break;
    at += 4;
  }
  const uint64_t position = tell();
  at = std::max(at, position);
  ++skipped_.places;
  skipped_.bytes += at - position;
  log(LogLevel::kWarning, fmt::format("RecordIO: '{}' at byte {}: {}; {} bytes skipped",
                                      file_.path(), damage.offset, damage.message, at - position));
  seek(at);
}

}  // namespace mxnet::io
