// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of symmetric matrices whose rows are a few vectors, for which
// LAPACK's calls and rotations of columns take longer than the arithmetic.
#pragma once
#include <cstdint>

namespace mxnet {

// Rows of a (n x n) become the eigenvectors, w the eigenvalues, ascending; of a one triangle is
// read, all of whose numbers are finite. False, and nothing is written, where the matrix is
// LAPACK's: on this processor, of this size, or since it did not converge. T is float or double.
template <class T>
bool find_eigenvectors(bool lower, bool vectors, int64_t n, T* a, T* w);

}  // namespace mxnet
