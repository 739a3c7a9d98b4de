// SPDX-License-Identifier: Apache-2.0
// Singular values and vectors of matrices with few rows or few columns, by reflections and
// rotations of whole rows. T is float or double.
#pragma once
#include <cstdint>

namespace mxnet {

// a (m x n) is u diag(s) v, for k = min(m, n) values s, descending, u (m x k) and v (k x n); all of
// its numbers are finite. False where the matrix is LAPACK's: on this processor, of this size, or
// since it did not converge.
template <class T>
bool find_singular_vectors(int64_t m, int64_t n, const T* a, T* u, T* s, T* v);

}  // namespace mxnet
