// SPDX-License-Identifier: Apache-2.0
// Sums of products of integers, for matrix products: exact, modulo 2 to the bits of the type.
#pragma once
#include <cstdint>

namespace mxnet {

// Loops over contiguous numbers, the widest that the processor has; uint32_t and uint64_t.
template <class T>
struct IntegerProducts {
  T (*dot)(const T* a, const T* b, int64_t n);
  // y += factor * x
  void (*add_scaled)(T factor, const T* x, T* y, int64_t n);
  // y += the sum of four factors times rows of x, which are `row` apart.
  void (*add_four)(const T* factors, const T* x, int64_t row, T* y, int64_t n);
};
template <class T>
IntegerProducts<T> integer_products();

}  // namespace mxnet
