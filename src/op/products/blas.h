// SPDX-License-Identifier: Apache-2.0
// BLAS and LAPACK on row-major matrices of float and double, one overload a type. OpenBLAS itself
// runs on one thread: what it is called for is split here over batches and blocks, by the one
// cost model of the library (op/run/parallel.h), so that it never competes with the engine's
// workers. Those that return int return LAPACK's info: 0 is success. Where eigenvalues or singular
// values are looked for, a matrix with NaN is a failure, and one with infinities has NaN in all
// results (geev: a failure too).
#pragma once
#include <cstdint>

namespace mxnet::blas {

// Whether OpenBLAS's own loops have vectors of 512 bits: it chose by the processor, unless
// OPENBLAS_CORETYPE said so.
bool has_wide_loops();

#define MX_BLAS_FUNCTIONS(T)                                                                   \
  /* c = alpha * op(a) op(b) + beta * c, c of m x n, op(a) of m x k. */                        \
  void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, T alpha,      \
            const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc);      \
  /* b (m x n) = alpha * op(a) b, or alpha * b op(a) with `right`; a triangular. */            \
  void trmm(bool right, bool lower, bool transpose, int64_t m, int64_t n, T alpha, const T* a, \
            T* b);                                                                             \
  /* The same with the inverse of a. */                                                        \
  void trsm(bool right, bool lower, bool transpose, int64_t m, int64_t n, T alpha, const T* a, \
            T* b);                                                                             \
  int potrf(bool lower, int64_t n, T* a); /* touches one triangle only */                      \
  /* LU of the transpose of a (n x m, rows lda apart); what follows from it is that of a       \
     (determinant) or transposed back (getri gives the inverse of a). */                       \
  int getrf(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots);                         \
  int getri(int64_t n, T* a, const int32_t* pivots);                                           \
  /* Rows of a become the eigenvectors, w the eigenvalues, ascending. */                       \
  int syevd(bool lower, bool vectors, int64_t n, T* a, T* w);                                  \
  /* Right eigenvectors in the rows of v (complex ones in pairs), unless v is null. */         \
  int geev(int64_t n, T* a, T* real, T* imaginary, T* v);                                      \
  /* a (m x n, m <= n) = l q; a becomes q. */                                                  \
  int gelqf(int64_t m, int64_t n, T* a, T* l);                                                 \
  /* a (m x n) = u diag(s) v with u of m x min, v of min x n; a is spent. */                   \
  int gesdd(int64_t m, int64_t n, T* a, T* u, T* s, T* v);
MX_BLAS_FUNCTIONS(float)
MX_BLAS_FUNCTIONS(double)
#undef MX_BLAS_FUNCTIONS

}  // namespace mxnet::blas
