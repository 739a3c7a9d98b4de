// SPDX-License-Identifier: Apache-2.0
// The inner loops of sparse products, compiled for each instruction set.
#pragma once
#include <cstdint>

namespace mxnet {

// Rows of a dense matrix, `width` elements each.
template <class T>
struct MatrixRows {
  const T* data;
  int64_t width;
};

// T: float or double.
template <class T>
struct CsrLoops {
  // out[j] = sum over k < count of values[k] * row indices[k] [j], for all columns j.
  void (*combine)(const T* values, const int64_t* indices, int64_t count, const MatrixRows<T>& rows,
                  T* out);
  // The sum over k < count of values[k] * x[indices[k]].
  T (*gathered_dot)(const T* values, const int64_t* indices, int64_t count, const T* x);
  // out[slots[k]] += factor * values[k].
  void (*scatter_add)(T factor, const T* values, const int64_t* slots, int64_t count, T* out);
};
template <class T>
CsrLoops<T> csr_loops();

}  // namespace mxnet
