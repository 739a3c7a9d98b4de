// SPDX-License-Identifier: Apache-2.0
// Cholesky factors of matrices that are not small, and inverses from them, so that most of the work
// is products. T is float or double.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mxnet {

// One triangle of a (n x n) is left.
template <class T>
void clear_other_triangle(bool lower, int64_t n, T* a) {
  for (int64_t r = 0; r < n; ++r, a += n)
    lower ? std::fill(a + r + 1, a + n, T{0}) : std::fill(a, a + r, T{0});
}

// One triangle of a (n x n) becomes the factor, the other zero. Returns LAPACK's info: 0, or the
// first row whose number on the diagonal has no root.
template <class T>
int factorise_cholesky(bool lower, int64_t n, T* a);

// a, of which one triangle is a Cholesky factor, becomes the inverse of what it is the factor of.
// Returns LAPACK's info: 0, or the first row whose number on the diagonal is zero.
template <class T>
int invert_by_cholesky(bool lower, int64_t n, T* a);

}  // namespace mxnet
