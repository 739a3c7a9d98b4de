// SPDX-License-Identifier: Apache-2.0
// Many matrix products of one size, spread over threads.
#pragma once
#include <cstdint>
#include <span>

namespace mxnet {

// c[i] = alpha * op(a[i]) op(b[i]) + beta * c[i]; the offsets say where each matrix begins.
template <class T>
struct Products {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const T* a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  T* c;
  int64_t ldc;
  T alpha, beta;
  std::span<const int64_t> at_a, at_b, at_c;  // one each per product
};

void multiply(const Products<float>& products);
void multiply(const Products<double>& products);
// For integers: exact, modulo 2 to the bits of the type.
void multiply(const Products<uint32_t>& products);
void multiply(const Products<uint64_t>& products);

}  // namespace mxnet
