// SPDX-License-Identifier: Apache-2.0
// The inner loops of sparse products, compiled for each instruction set.
#pragma once
#include <cstdint>

namespace mxnet {

// Rows of a dense matrix, `width` elements each.
template <class T>
struct MatrixRows {
  const T* data;
  int64_t width;
};

// Entries of a csr matrix and where they add to: entry e of row i adds values[e] times row
// sources[i] of a dense matrix (row i, if there are no sources; none, where it is negative) to row
// slots[e] of the result, if that is in [first, last).
template <class T>
struct Scattered {
  int64_t rows;
  const int64_t *begins, *ends;
  const int64_t* slots;
  const T* values;
  const int64_t* sources;
  int64_t first, last;
};

// T: float or double.
template <class T>
struct CsrLoops {
  // out[j] = sum over k < count of values[k] * row indices[k] [j], for all columns j.
  void (*combine)(const T* values, const int64_t* indices, int64_t count, const MatrixRows<T>& rows,
                  T* out);
  // out[i] = the sum of values[k] * x[indices[k]] over k in [begins[i], begins[i + 1]).
  void (*gathered_rows)(int64_t rows, const int64_t* begins, const int64_t* indices,
                        const T* values, const T* x, T* out);
  // out[slots[k]] += factor * values[k].
  void (*scatter_add)(T factor, const T* values, const int64_t* slots, int64_t count, T* out);
  // sums[columns[k]] += values[k] * x[i] for each entry k of row i, one of [begins[i], ends[i]).
  void (*sum_columns)(int64_t rows, const int64_t* begins, const int64_t* ends,
                      const int64_t* columns, const T* values, const T* x, T* sums);
  // The smallest magnitude; NaN is greater than all.
  T (*least)(const T* values, int64_t count);
  // marks[i] = whether values[i] is not -0; returns how many are not.
  int64_t (*mark_others)(const T* values, int64_t count, char* marks);
  void (*scatter_rows)(const Scattered<T>& entries, const MatrixRows<T>& rows, T* out);
};
template <class T>
CsrLoops<T> csr_loops();

}  // namespace mxnet
