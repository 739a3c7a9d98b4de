// SPDX-License-Identifier: Apache-2.0
// Many matrix products of one size, spread over threads.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>

namespace mxnet {

// c[i] = alpha * op(a[i]) op(b[i]) + beta * c[i]. The offsets say where series of matrices begin,
// of `series` products each, whose matrices are so many elements apart.
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
  std::span<const int64_t> at_a, at_b, at_c;
  int64_t series = 1;
  int64_t step_a = 0, step_b = 0, step_c = 0;  // not negative

  int64_t count() const { return static_cast<int64_t>(at_a.size()) * series; }
  // Where the matrices of product i begin.
  const T* a_of(int64_t i) const { return a + place(i, at_a, step_a); }
  const T* b_of(int64_t i) const { return b + place(i, at_b, step_b); }
  T* c_of(int64_t i) const { return c + place(i, at_c, step_c); }

 private:
  int64_t place(int64_t i, std::span<const int64_t> at, int64_t step) const {
    return at[static_cast<std::size_t>(i / series)] + i % series * step;
  }
};

void multiply(const Products<float>& products);
void multiply(const Products<double>& products);
// For integers: exact, modulo 2 to the bits of the type.
void multiply(const Products<uint32_t>& products);
void multiply(const Products<uint64_t>& products);

// c = alpha * op(a) op(b) + beta * c, `count` products of dense matrices one behind the other, each
// of some numbers.
template <class T>
void multiply_batch(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    int64_t count, const T* a, const T* b, T* c, T alpha = 1, T beta = 0);

// c = alpha * op(a) op(b) + beta * c, one product, on the calling thread.
template <std::floating_point T>
void multiply_here(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, T alpha,
                   const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc);

// c = op(a) op(b), one product of few numbers, but of some, whose matrices are dense: on the
// calling thread, without the questions that batches ask.
template <std::floating_point T>
void multiply_few(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
                  const T* b, T* c);

}  // namespace mxnet
