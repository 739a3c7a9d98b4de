// SPDX-License-Identifier: Apache-2.0
// Products of floating numbers so small, or of so little depth, that a call of BLAS for each takes
// longer than they do: a row of the right factor, and of the result, is some vectors.
#pragma once
#include <cstdint>

namespace mxnet {

// Columns, and the depth, of the largest; with vectors of 512 bits, and of few rows whose right
// factor is not turned.
inline constexpr int64_t kSmallSide = 16, kFlatSide = 32;

// Products one after the other, whose matrices are `step_a`, `step_b` and `step_c` >= 0 apart:
// c = alpha * a b. Element (i, j) of a is a[i * row_a + j * column_a], of b likewise; rows of c are
// `ldc` apart. n and k are at most kSmallSide, or kFlatSide where column_b is 1.
template <class T>
struct SmallProducts {
  int64_t m, n, k;
  const T* a;
  int64_t row_a, column_a, step_a;
  const T* b;
  int64_t row_b, column_b, step_b;
  T* c;
  int64_t ldc, step_c;
  T alpha;
};

// Makes products [first, last) of the `count` that there are, on the calling thread. The digits are
// the same however they are split.
template <class T>
using SmallProductLoop = void (*)(const SmallProducts<T>& p, int64_t count, int64_t first,
                                  int64_t last);
// Null where the processor has no vectors for it.
template <class T>
SmallProductLoop<T> small_product_loop();

// Numbers of the shortest row of an outer product.
inline constexpr int64_t kOuterRow = 16;
// c = a b of a column of m numbers, `row_a` apart, and a row of n >= kOuterRow; null likewise.
template <class T>
using OuterProductLoop = void (*)(int64_t m, int64_t n, const T* a, int64_t row_a, const T* b, T* c,
                                  int64_t ldc);
template <class T>
OuterProductLoop<T> outer_product_loop();

}  // namespace mxnet
