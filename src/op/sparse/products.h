// SPDX-License-Identifier: Apache-2.0
// Products of a csr matrix and a dense one, by what lies on which side.
#pragma once
#include <vector>

#include "op/sparse/csr_loops.h"
#include "op/sparse_context.h"

namespace mxnet {

// Rows of sparse coefficients: row i has entries [begins[i], begins[i + 1]).
template <class T>
struct Coefficients {
  int64_t rows;
  const int64_t* begins;
  const int64_t* indices;
  const T* values;
};

// The columns of a csr matrix that have entries, ascending, and for each entry the place of its
// column among them.
struct StoredColumns {
  std::vector<int64_t> columns;
  const int64_t* slots;  // in scratch memory, or the matrix's own indices
};
StoredColumns stored_columns(const SparseContext& context, const CsrView& csr);

// Sparse times dense: rows of `out` are combinations of rows of the dense matrix.
template <class T>
void combine_rows(const Coefficients<T>& coefficients, const MatrixRows<T>& dense, T* out);

// Transposed csr times dense: a row of `out` for each of `height` slots. Row i of the matrix meets
// row sources[i] of the dense one, none where that is negative (row i, if there are no sources).
template <class T>
void transposed_times_rows(const CsrView& csr, const T* values, const int64_t* slots,
                           int64_t height, const int64_t* sources, const MatrixRows<T>& dense,
                           T* out);

// Transposed csr times a vector: the sums of all columns. Those without entries are -0; others may
// be.
template <class T>
void transposed_times_vector(const SparseContext& context, const CsrView& csr, const T* values,
                             const T* x, T* sums);
// Whether there are so few columns that all of them cost less than a search among the entries.
bool has_few_columns(const CsrView& csr);
// 1 for each column that has entries, else 0.
std::vector<char> used_columns(const CsrView& csr);

// Dense (m, k) times csr (k, n): slots[e] is the column of `out` that entry e adds to.
template <class T>
void dense_times_csr(const T* dense, int64_t m, const CsrView& csr, const T* values,
                     const int64_t* slots, T* out, int64_t width);

// Dense (m, k) times the transpose of some rows of a csr matrix (n, k): a column of `out` for each.
template <class T>
void dense_times_csr_rows(const T* dense, int64_t m, const CsrView& csr, const T* values,
                          std::span<const int64_t> rows, T* out);

}  // namespace mxnet
