// SPDX-License-Identifier: Apache-2.0
// Rows of a few elements, as many as a line has of 32 bits, ordered together: each lane of a vector
// has a row of its own, so that none begins and ends by itself.
#pragma once
#include <cstdint>

#include "base/simd.h"
#include "op/sorting/sort_key.h"

namespace mxnet {

// The rows that come together, and the most elements that they have where positions are asked for:
// a position is four bits, those of a row a number of 64.
inline constexpr int64_t kSideBySide = 16;

// at[j * pitch], and what follows there: the positions of row j of `count` in the order of the keys
// of its n elements, equal ones as they come. What is behind them up to kSideBySide, which pitch is
// at least, is of no meaning. False, with nothing done, where the CPU has no instructions that
// help. REQUIRES: n, count <= kSideBySide.
template <class T>
bool positions_side_by_side(const T* rows, int64_t n, int64_t count, SortKey<T> flip, uint32_t* at,
                            int64_t pitch);

// Whether rows of n elements, whose values alone are asked for, are sorted sooner together than one
// by one. Those that fill vectors of 512 bits are not.
template <class T>
inline constexpr int64_t kMostSorted = sizeof(T) == 8 ? 24 : 32;
template <class T>
bool is_sorted_side_by_side(int64_t n) {
  const int64_t bytes = n * int64_t{sizeof(T)};
  return n <= kMostSorted<T> && (simd_level() < 2 || bytes < 128 || bytes % 64 != 0);
}

// out[j * n, (j + 1) * n) = the elements of row j in order, as of sort_values(). `out` may be
// `rows`. The rest as above, but n <= kMostSorted<T>.
template <class T>
bool sort_side_by_side(const T* rows, int64_t n, int64_t count, SortKey<T> flip, T* out);

}  // namespace mxnet
