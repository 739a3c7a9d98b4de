// SPDX-License-Identifier: Apache-2.0
// Sums along the columns of products of two arrays, element by element: no array of products is
// made.
#pragma once
#include <cstdint>

namespace mxnet {

// `planes` of `rows` of `width` elements, one after the other.
struct Columns {
  int64_t planes = 1, rows = 1, width = 1;
};

// c[p][j] = sum over rows r of a[p][r][j] b[p][r][j] of dense arrays.
template <class T>
struct ColumnDots {
  Columns of;
  const T *a, *b;
  T* c;
};

// In all threads; the digits are the same whatever their number. False, and nothing done, where the
// processor has no vectors for it, or rows are shorter than one of these.
template <class T>
bool multiply(const ColumnDots<T>& dots);

}  // namespace mxnet
