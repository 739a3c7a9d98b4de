// SPDX-License-Identifier: Apache-2.0
// Eigenvectors of symmetric matrices and LQ factors, of matrices whose rows are a few vectors, by
// reflections and rotations of whole rows: for them LAPACK's calls, and its rotations of columns,
// take longer than the arithmetic. T is float or double.
#pragma once
#include <cstdint>

namespace mxnet {

// Rows of a (n x n) become the eigenvectors, w the eigenvalues, ascending; of a one triangle is
// read, all of whose numbers are finite. False, and nothing is written, where the matrix is
// LAPACK's: on this processor, of this size, or since it did not converge.
template <class T>
bool find_eigenvectors(bool lower, bool vectors, int64_t n, T* a, T* w);

// a (m x n, m <= n) in q becomes q, for l q = a with a lower triangle l (m x m), whose other
// numbers are zeros; signs are LAPACK's. False, and q is what it was, where the matrix is LAPACK's:
// on this processor, of this size, or since a number is not finite.
template <class T>
bool find_lq(int64_t m, int64_t n, T* q, T* l);

}  // namespace mxnet
