// SPDX-License-Identifier: Apache-2.0
// Products of a matrix with a few rows or columns: each of its numbers is met a few times, so that
// to pack it, as BLAS does, takes longer than they do.
#pragma once
#include <cstdint>

namespace mxnet {

// Whether c = op(a) op(b), of m rows, n columns and depth k, is one of those that are faster here.
template <class T>
bool suits_thin(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k);

// Makes a block of one, which has all that there are of the shorter side, on the calling thread.
// `left`: the left factor is the matrix, n <= m of the whole product. A number of c is the same
// beside any others. REQUIRES: suits_thin() of the whole product.
template <class T>
void multiply_thin(bool left, bool transpose_a, bool transpose_b, int64_t rows, int64_t columns,
                   int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc);

}  // namespace mxnet
