// SPDX-License-Identifier: Apache-2.0
// Products of integers: exact, modulo 2 to the bits of the type.
#pragma once
#include <cstdint>

#include "op/products/products.h"

namespace mxnet {

// c = alpha * a b + beta * c. Element (i, l) of a is a[i * row_a + l * column_a]; rows of b and of
// c are contiguous.
template <class T>
struct IntegerBlock {
  int64_t rows, columns, depth;
  const T* a;
  int64_t row_a, column_a;
  const T* b;
  int64_t row_b;
  T* c;
  int64_t row_c;
  T alpha, beta;
};

// Loops over contiguous numbers, the widest that the processor has; uint32_t and uint64_t.
template <class T>
struct IntegerProducts {
  T (*dot)(const T* a, const T* b, int64_t n);
  void (*multiply)(const IntegerBlock<T>& block);
};
template <class T>
IntegerProducts<T> integer_products();

// The block of `rows` x `columns` of a product whose factors and result are at a, b and c there.
template <class T>
void multiply_integers(const Products<T>& p, int64_t rows, int64_t columns, const T* a, const T* b,
                       T* c);

// The sum of products of bytes, of either sign, modulo 2^8.
uint8_t dot_bytes(const uint8_t* a, const uint8_t* b, int64_t n);

}  // namespace mxnet
