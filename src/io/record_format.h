// SPDX-License-Identifier: Apache-2.0
// The RecordIO format (docs/recordio.md): a record is one part, or several where its payload holds
// the magic at a multiple of four bytes. Each part is
//   u32 magic, u32 kind << 29 | length, payload, zeros up to a multiple of four bytes,
// all little-endian. The magics between the parts of a record are not stored.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mxnet::io {

constexpr uint32_t kRecordMagic = 0xced7230a;
constexpr uint32_t kLengthBits = 29;
constexpr uint64_t kLongestRecord = (uint64_t{1} << kLengthBits) - 1;

enum class PartKind : uint32_t { kWhole, kFirst, kMiddle, kLast };

struct PartHeader {
  uint32_t magic;
  uint32_t kind_and_length;

  uint32_t length() const { return kind_and_length & kLongestRecord; }
  uint32_t kind() const { return kind_and_length >> kLengthBits; }
  bool starts_record() const {
    return kind() == static_cast<uint32_t>(PartKind::kWhole) ||
           kind() == static_cast<uint32_t>(PartKind::kFirst);
  }
};
static_assert(sizeof(PartHeader) == 8);

constexpr uint64_t padded_length(uint64_t length) { return (length + 3) & ~uint64_t{3}; }

// The first offset >= `from` (a multiple of four) where the magic stands in data[0, bytes), looking
// at multiples of four only; `bytes` if there is none.
std::size_t find_magic(const char* data, std::size_t bytes, std::size_t from);

}  // namespace mxnet::io
