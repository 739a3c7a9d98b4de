// SPDX-License-Identifier: Apache-2.0
// One large matrix by halves, so that most of the work is products of large matrices, in threads:
// triangular systems and LU factors. T is float or double.
#pragma once
#include <cstdint>

#include "op/products/triangular_solve.h"

namespace mxnet {

// c -= op(a) op(b), for matrices c of m x n and op(a) of m x k, whose rows are so far apart.
template <class T>
void subtract_product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                      const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc);

// solve_triangular() with a matrix of any size.
template <class T>
void solve_triangular_by_halves(const TriangularFactor& as, int64_t m, int64_t n, T alpha,
                                const T* a, int64_t lda, T* b, int64_t ldb);

// Whether LU factors by halves are for matrices of n rows, and LAPACK for others.
bool suits_lu_by_halves(int64_t n);

// The transpose of a (n x n) becomes its factors, which is what LAPACK makes of a row-major matrix,
// with pivots from 1 on. Returns LAPACK's info: 0, or the first pivot that is zero.
template <class T>
int factorise_by_halves(int64_t n, T* a, int32_t* pivots);

// x (n x sides) becomes a^-1 x. a is spent: LAPACK's info for it is returned.
template <class T>
int solve_by_halves(int64_t n, int64_t sides, T* a, int32_t* pivots, T* x);

}  // namespace mxnet
