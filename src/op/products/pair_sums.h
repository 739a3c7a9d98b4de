// SPDX-License-Identifier: Apache-2.0
// The loop of all tiles of products of bfloat16: what becomes of its sums is the caller's.
#pragma once
#include <cstdint>
#include <cstring>

#include "base/bfloat16_pairs.h"
#include "base/half.h"

namespace mxnet {

// sum = a[rows][pairs] b[pairs][vectors]; `row` and `pair` are distances of elements of a. Who
// fetches has `next` brought to the second-level cache meanwhile, a line a step.
template <bool fetches, int rows, int vectors>
MX_BFLOAT16_PAIRS [[gnu::always_inline]] inline void sum_pairs(int64_t pairs, const bfloat16* a,
                                                               int64_t row, int64_t pair,
                                                               const float* b, const float* next,
                                                               PairSums (&sum)[rows][vectors]) {
  static_assert(rows <= 12 && vectors <= 2);  // what is unrolled
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sum[r][v] = PairSums::zero();
  }
  for (int64_t i = 0; i < pairs; ++i, a += pair, b += vectors * PairSums::kCount) {
    if constexpr (fetches) __builtin_prefetch(next + i * PairSums::kCount, 0, 2);
    PairSums right[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) right[v] = PairSums::load(b + v * PairSums::kCount);
#pragma GCC unroll 12
    for (int r = 0; r < rows; ++r) {
      Bfloat16Pair left;
      std::memcpy(&left, a + r * row, sizeof(left));
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[r][v].add(left, right[v]);
    }
  }
}

}  // namespace mxnet
