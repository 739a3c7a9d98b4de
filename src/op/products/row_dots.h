// SPDX-License-Identifier: Apache-2.0
// Many sums of products of two rows each, so short that a call of BLAS for each takes longer than
// they do: of some rows at once the lanes are added together.
#pragma once
#include <cstdint>

namespace mxnet {

// The longest rows: of longer ones BLAS has more sums beside each other, and is as fast.
inline constexpr int64_t kLongestDot = 256;

// c[i] = alpha * sum of a[i] b[i] of rows of k numbers from 1 to kLongestDot that lie together; the
// rows are `step_a` and `step_b` apart, the sums `step_c`.
template <class T>
struct RowDots {
  int64_t k;
  const T* a;
  int64_t step_a;
  const T* b;
  int64_t step_b;
  T* c;
  int64_t step_c;
  T alpha;
};

// Makes sums [first, last) on the calling thread. The digits are the same however they are split.
template <class T>
using RowDotsLoop = void (*)(const RowDots<T>& p, int64_t first, int64_t last);
// Null where the processor has no vectors for it.
template <class T>
RowDotsLoop<T> row_dots_loop();

}  // namespace mxnet
