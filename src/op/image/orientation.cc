// SPDX-License-Identifier: Apache-2.0
// Orientation: the tag of an Exif note, and pixels turned as it says.
#include "op/image/orientation.h"

#include <algorithm>

namespace mxnet::image {
namespace {

// Numbers of a TIFF directory, in either order of bytes. What lies outside is zero.
class Note {
 public:
  explicit Note(Bytes bytes) : bytes_(bytes), big_(at(0) == 'M') {}

  bool is_tiff() const { return (at(0) == 'I' || at(0) == 'M') && at(1) == at(0) && u16(2) == 42; }
  uint32_t u16(std::size_t i) const {
    return big_ ? at(i) << 8 | at(i + 1) : at(i + 1) << 8 | at(i);
  }
  uint32_t u32(std::size_t i) const {
    return big_ ? u16(i) << 16 | u16(i + 2) : u16(i + 2) << 16 | u16(i);
  }

 private:
  uint32_t at(std::size_t i) const { return i < bytes_.size() ? bytes_[i] : 0; }

  Bytes bytes_;
  bool big_;
};

constexpr uint32_t kOrientationTag = 0x112, kLong = 4;
constexpr std::size_t kDirectoryAt = 4, kEntryBytes = 12, kTypeAt = 2, kValueAt = 8;

bool is_transposed(int orientation) { return orientation >= 5; }
bool counts_rows_backwards(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}
bool counts_columns_backwards(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}

}  // namespace

int orientation_of(Bytes bytes) {
  const Note note(bytes);
  if (!note.is_tiff()) return 1;
  const std::size_t directory = note.u32(kDirectoryAt);
  const std::size_t entries = note.u16(directory);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (note.u16(entry) != kOrientationTag) continue;
    const std::size_t value_at = entry + kValueAt;
    const uint32_t value =
        note.u16(entry + kTypeAt) == kLong ? note.u32(value_at) : note.u16(value_at);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Size turned(Size stored, int orientation) {
  return is_transposed(orientation) ? Size{stored.width, stored.height} : stored;
}

void turn(const uint8_t* stored, Size size, int channels, int orientation, uint8_t* seen) {
  const Size out = turned(size, orientation);
  for (int64_t y = 0; y < out.height; ++y) {
    for (int64_t x = 0; x < out.width; ++x) {
      int64_t row = is_transposed(orientation) ? x : y;
      int64_t column = is_transposed(orientation) ? y : x;
      if (counts_rows_backwards(orientation)) row = size.height - 1 - row;
      if (counts_columns_backwards(orientation)) column = size.width - 1 - column;
      seen = std::copy_n(stored + (row * size.width + column) * channels, channels, seen);
    }
  }
}

}  // namespace mxnet::image
