// SPDX-License-Identifier: Apache-2.0
// How reductions are cut: how much a call of a loop takes, how much a thread, what counts as short
// or narrow; and how the values of blocks become one.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "op/reducing/byte_sums.h"
#include "op/reducing/reduce_loops.h"

namespace mxnet::reduce_units {

// ---- threads -----------------------------------------------------------------------------------

// From so many units on threads have enough to do without dividing them.
inline constexpr int64_t kEnoughUnits = 16;
// Elements of a chunk, where a unit is divided at all. Along a row threads share half chunks, so
// that their parts of two million elements differ by less than a fiftieth.
inline constexpr int64_t kChunk = int64_t{1} << 16;
// What a row costs beside its elements, counted in elements.
inline constexpr double kRowCost = 64;

// ---- rows: the innermost dimension is reduced --------------------------------------------------

// Elements that one call of a row loop takes: long enough to hide the call, short enough to keep
// the error of a straight sum small; a buffer of it fits the first-level cache.
inline constexpr int64_t kLeaf = 1024;
// The same where elements need no buffer.
inline constexpr int64_t kDirectLeaf = 4096;
// And where the loop itself keeps the error small: calls and merging are a fiftieth of the sum. (Of
// rows that are read two at a time; of others half a chunk, which takes a hundredth less.)
inline constexpr int64_t kLongLeaf = 4 * kDirectLeaf;
// What the second-level cache holds needs not be asked for.
inline constexpr int64_t kNearCache = int64_t{1} << 20;
// Shorter rows are turned into columns: that takes less time than the vector loop for each.
inline constexpr int64_t kShortRow = 17;
// Planes of fewer elements are gathered.
inline constexpr int64_t kFewestInPlane = kLeaf / 8, kFewestOfShortRun = kLeaf / 32;
// Of so many bytes in all, also planes of fewer are reduced in the order in which they lie: that is
// one stream of memory, and what lies apart, a run here and one there, none.
inline constexpr int64_t kStreamedPlanes = 6 << 20, kFewestOfStream = 64;
// Of what is reduced of so many bytes. (With AVX2 the stream is sooner whatever they are, but for
// the greatest and the least of doubles.)
int64_t fewest_in_plane(int64_t bytes, bool selects_doubles);
// So many elements, in so many rows, may be reduced to one output for its rows to be turned. Of
// more, too few outputs would lie side by side; bytes that are added have a fast loop otherwise.
inline constexpr int64_t kMostTurned = kLeaf / 4, kMostBytesTurned = kLeaf / 8;
inline constexpr int64_t kMostRowsTurned = 32;

// ---- columns: the innermost dimension is kept --------------------------------------------------

// Rows that columns take up before they merge.
inline constexpr int64_t kRowBlock = 256;
// Columns of a tile: 8 KiB of accumulators.
inline constexpr int64_t kTile = 1024;
static_assert(kTile <= kMostByteColumns);
// What sums of planes may write behind their values: a vector of 64 bytes.
inline constexpr int64_t kWrittenOver = 8;
// Of fewer than kNarrow columns kFewestRows rows and more are reduced side by side, as wide rows of
// at most kMostSideBySide elements. From kFewWideRows of these on that pays always (is_low). What
// is not added waits longer for what is before it: up to kLessNarrow of its columns are narrow,
// too, unless they fill the vectors that a loop takes at once.
inline constexpr int64_t kNarrow = 32, kLessNarrow = 128, kMostSideBySide = 512;
inline constexpr int64_t kFewestRows = 8, kFewWideRows = 4;
// A wide row of more bytes of sums than registers hold is that wide where there are as many.
inline constexpr int64_t kWideBytes = 512;
// Eight rows of so many bytes, which one loop takes at once, are three quarters of a page.
inline constexpr int64_t kNarrowBytes = 384;

// Values that a store is called with at most.
inline constexpr int64_t kMostValues = std::max(kLeaf, kTile);

// parts[0] becomes the merged value of `count` of them, each of `width` values.
template <class L, class A>
[[gnu::noinline]] void merge_pairwise(const ReduceLoops<L, A>& loops, A* parts, int64_t count,
                                      int64_t width) {
  for (int64_t step = 1; step < count; step *= 2) {
    for (int64_t i = 0; i + step < count; i += 2 * step)
      loops.merge(parts + i * width, parts + (i + step) * width, width);
  }
}

// Merges values as a binary counter carries: like meets like in size.
template <class L, class A>
class Cascade {
 public:
  explicit Cascade(const ReduceLoops<L, A>& loops) : loops_(loops) {}
  void push(A value) {
    for (uint64_t carry = pushed_++; (carry & 1) != 0; carry >>= 1) {
      loops_.merge(&levels_[--depth_], &value, 1);
      value = levels_[depth_];
    }
    levels_[depth_++] = value;
  }
  A result() {
    if (depth_ == 0) return loops_.identity;
    while (depth_ > 1) {
      --depth_;
      loops_.merge(&levels_[depth_ - 1], &levels_[depth_], 1);
    }
    return levels_[0];
  }

 private:
  const ReduceLoops<L, A>& loops_;
  uint64_t pushed_ = 0;
  std::size_t depth_ = 0;
  std::array<A, 64> levels_;
};

}  // namespace mxnet::reduce_units
