// SPDX-License-Identifier: Apache-2.0
// Which rows are read two at a time: two streams of memory that lie apart, so that one goes on
// where the other has come to the end of a page. Who is whose partner the shape alone decides,
// whatever the threads: each half of the loop's chains adds one of the two.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mxnet::reduce_units {

// Shorter rows are faster one by one.
inline constexpr int64_t kPairedRow = 64;
// Neighbouring rows, which would be one stream again, are not partners, nor are those that lie
// megabytes apart, of which some share the sets of a cache: blocks of so many bytes are halved.
inline constexpr int64_t kPairedBytes = int64_t{1} << 19;
// The same for parts of one row, of 64 KiB each.
inline constexpr int64_t kPairedParts = 64;

// Rows of a block: an eighth of all at most, for threads to share, and an even number.
inline int64_t paired_rows(int64_t rows, int64_t bytes_of_row, int64_t most) {
  const int64_t held = std::min(kPairedBytes / bytes_of_row, rows / 8);
  return std::clamp(held / 2 * 2, int64_t{2}, most);
}

// Items in blocks of `block`, an even number: the first half of each with the second one.
class Pairs {
 public:
  Pairs(int64_t items, int64_t block) : items_(items), block_(block) {}
  int64_t count() const { return items_ / block_ * (block_ / 2) + (items_ % block_ + 1) / 2; }
  int64_t first(int64_t pair) const { return pair / (block_ / 2) * block_ + pair % (block_ / 2); }
  // The number of items where the first one is alone.
  int64_t second(int64_t pair) const {
    const int64_t left = items_ - pair / (block_ / 2) * block_;
    return first(pair) + (left < block_ ? (left + 1) / 2 : block_ / 2);
  }

 private:
  int64_t items_, block_;
};

}  // namespace mxnet::reduce_units
