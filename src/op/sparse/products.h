// SPDX-License-Identifier: Apache-2.0
// Products of a csr matrix and a dense one, by what lies on which side.
#pragma once
#include <vector>

#include "op/sparse/csr_loops.h"
#include "op/sparse_context.h"

namespace mxnet {

// Rows of sparse coefficients: row i has entries [begins[i], begins[i + 1]) and makes row
// targets[i] of the result (row i, if there are no targets).
template <class T>
struct Coefficients {
  int64_t rows;
  const int64_t* begins;
  const int64_t* indices;
  const T* values;
  const int64_t* targets;
};

// The transpose of a csr matrix, without its empty rows: those of `columns` remain, ascending.
struct Transposed {
  std::vector<int64_t> columns;  // of the matrix that have entries
  std::vector<int64_t> begins, rows;
  std::vector<int64_t> order;  // where each entry lies in the matrix
};
Transposed transpose(const CsrView& csr);

// Sparse times dense: rows of `out` are combinations of rows of the dense matrix.
template <class T>
void combine_rows(const Coefficients<T>& coefficients, const MatrixRows<T>& dense, T* out);

// Dense (m, k) times csr (k, n): slots[e] is the column of `out` that entry e adds to.
template <class T>
void dense_times_csr(const T* dense, int64_t m, const CsrView& csr, const T* values,
                     const int64_t* slots, T* out, int64_t width);

// Dense (m, k) times the transpose of some rows of a csr matrix (n, k): a column of `out` for each.
template <class T>
void dense_times_csr_rows(const T* dense, int64_t m, const CsrView& csr, const T* values,
                          std::span<const int64_t> rows, T* out);

}  // namespace mxnet
