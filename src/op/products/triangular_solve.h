// SPDX-License-Identifier: Apache-2.0
// Systems with a triangular matrix and many right sides, which are solved side by side in vectors:
// for matrices that, with some vectors of right sides, stay in the second-level cache.
#pragma once
#include <cstdint>

namespace mxnet {

// A square matrix as a factor of the unknown one. Only its triangle is read.
struct TriangularFactor {
  bool right, lower, transpose;
};

// b becomes X of op(a) X = alpha b, or of X op(a) = alpha b, for the matrices m x n, whose rows are
// lda and ldb elements apart. In threads. T is float or double.
template <class T>
void solve_triangular(const TriangularFactor& as, int64_t m, int64_t n, T alpha, const T* a,
                      int64_t lda, T* b, int64_t ldb);

}  // namespace mxnet
