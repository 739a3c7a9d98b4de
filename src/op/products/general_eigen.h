// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of matrices of no symmetry that are not large.
#pragma once
#include <cstdint>

namespace mxnet {

// Right eigenvectors of a (n x n, of finite numbers) come into the rows of v, unless it is null,
// eigenvalues into `real` and `imaginary`. Where some are complex, nothing else of the results
// counts. False where the matrix is LAPACK's: on this processor, of this size, where balancing it
// takes exchanges of rows, or since it did not converge. T is float or double.
template <class T>
bool find_general_eigenvectors(int64_t n, const T* a, T* real, T* imaginary, T* v);

}  // namespace mxnet
