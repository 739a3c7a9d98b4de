// SPDX-License-Identifier: Apache-2.0
// LU, Cholesky and LQ factors of batches of matrices, and what is computed from them. Large
// matrices go to LAPACK. Of small ones, for which a call each would take longer than the
// arithmetic, as many as a vector has lanes are worked on at a time; their pivots, and what counts
// as singular, are LAPACK's.
#pragma once
#include <cstdint>

namespace mxnet::matrix_batches {

// All of these work on `count` row-major matrices, most of n x n, one after the other, on the
// calling thread; a matrix's digits do not depend on its neighbours. Those that return int return
// LAPACK's info of one matrix that failed, or 0. `pivots` is n numbers a matrix.

// LU factors of the transposes in place, which is what LAPACK sees in row-major matrices, and their
// pivots from 1 on. None fails: a pivot may be zero.
template <class T>
void factorise(int64_t n, int64_t count, T* a, int32_t* pivots);
// Inverses in place.
template <class T>
int invert(int64_t n, int64_t count, T* a, int32_t* pivots);
// x (n x sides each) becomes a^-1 x; a is spent.
template <class T>
int solve(int64_t n, int64_t sides, int64_t count, T* a, int32_t* pivots, T* x);
// One triangle becomes the factor, the other zero.
template <class T>
int cholesky(bool lower, int64_t n, int64_t count, T* a);
// Matrices of m x n, m <= n, become the rows of q, and l (m x m each) the lower triangles for which
// l q is a; signs are LAPACK's. `batch`: of how many matrices these are some, which decides who
// factorises them.
template <class T>
int lq(int64_t m, int64_t n, int64_t count, int64_t batch, T* q, T* l);

}  // namespace mxnet::matrix_batches
