// SPDX-License-Identifier: Apache-2.0
// dot with a csr matrix on one side, and its gradients: which product each combination of layouts
// and transpositions is.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "op/params/dense_and_sparse.h"
#include "op/sparse/align.h"
#include "op/sparse/arithmetic.h"
#include "op/sparse/products.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;

template <class F>
void dispatch(DType dtype, F&& fn) {
  dispatch_dtype<kFloating>(dtype, "dot", std::forward<F>(fn));
}

// Up to this many rows for each index, a table of all rows is cheaper than a search for each.
constexpr int64_t kRowsPerIndex = 8;

// `indices` of rows of an array as positions among those that it stores, -1 for others.
const int64_t* positions_in(SparseContext& context, const RowsView& rows, const int64_t* indices,
                            int64_t count) {
  auto* positions = context.workspace_of<int64_t>(count);
  if (rows.rows <= kRowsPerIndex * count) {
    std::vector<int64_t> position_of(static_cast<std::size_t>(rows.rows), -1);
    for (int64_t k = rows.stored; k-- > 0;)
      position_of[static_cast<std::size_t>(rows.index[k])] = k;
    for (int64_t k = 0; k < count; ++k)
      positions[k] = position_of[static_cast<std::size_t>(indices[k])];
    return positions;
  }
  std::vector<std::pair<int64_t, int64_t>> sorted;
  sorted.reserve(static_cast<std::size_t>(rows.stored));
  for (int64_t k = 0; k < rows.stored; ++k) sorted.emplace_back(rows.index[k], k);
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  for (int64_t k = 0; k < count; ++k) {
    const auto found =
        std::lower_bound(sorted.begin(), sorted.end(), std::pair(indices[k], int64_t{0}));
    positions[k] = found != sorted.end() && found->first == indices[k] ? found->second : -1;
  }
  return positions;
}

// Leaves those coefficients that meet a row which is stored: the others meet zeros.
template <class T>
void keep_stored(SparseContext& context, const RowsView& rows, int64_t count,
                 Coefficients<T>* coefficients) {
  const int64_t* positions = positions_in(context, rows, coefficients->indices, count);
  auto* begins = context.workspace_of<int64_t>(coefficients->rows + 1);
  auto* indices = context.workspace_of<int64_t>(count);
  auto* values = context.workspace_of<T>(count);
  int64_t kept = 0;
  for (int64_t i = 0; i < coefficients->rows; ++i) {
    begins[i] = kept;
    for (int64_t k = coefficients->begins[i]; k < coefficients->begins[i + 1]; ++k) {
      indices[kept] = positions[k];
      values[kept] = coefficients->values[k];
      kept += positions[k] >= 0 ? 1 : 0;
    }
  }
  begins[coefficients->rows] = kept;
  coefficients->begins = begins;
  coefficients->indices = indices;
  coefficients->values = values;
}

// Lets coefficients refer to the rows of operand i, which is dense or row_sparse.
template <class T>
MatrixRows<Arithmetic<T>> refer_to(SparseContext& context, int i, int64_t count,
                                   Coefficients<Arithmetic<T>>* coefficients) {
  const NDArray& array = context.in(i);
  const int64_t width = array.shape().size(1, array.shape().ndim());
  if (!array.is_sparse()) return {operand<T>(context, context.dense(i)), width};
  const RowsView rows = context.rows(i);
  keep_stored(context, rows, count, coefficients);
  return {operand<T>(context, rows.values), width};
}

// --- products ------------------------------------------------------------------------------------

// csr (m, k) by (k, n).
template <class T>
void sparse_by_dense(SparseContext& context, const CsrView& csr, int rhs) {
  const Result<T> out(context, context.dense_out(0));
  Coefficients<Arithmetic<T>> coefficients{csr.rows, csr.indptr, csr.indices,
                                           operand<T>(context, csr.values)};
  const auto rows = refer_to<T>(context, rhs, csr.stored, &coefficients);
  combine_rows(coefficients, rows, out.data());
  out.round();
}

// Transposed csr (k, m) by a dense column, in one way through the entries.
template <class T>
void transposed_by_vector(SparseContext& context, const CsrView& csr, int rhs) {
  using A = Arithmetic<T>;
  const bool packed = context.out(0).is_sparse();
  const A* values = operand<T>(context, csr.values);
  const A* x = operand<T>(context, context.dense(rhs));
  A* const sums = context.workspace_of<A>(csr.columns);
  transposed_times_vector(context, csr, values, x, sums);
  // A column without entries has the sum -0; others have it only where products are zero, or so
  // small that digits behind those of a sum, which takes them unrounded, are all that is left.
  const CsrLoops<A> loops = csr_loops<A>();
  std::vector<char> used(static_cast<std::size_t>(packed ? csr.columns : 0));
  int64_t count = packed ? loops.mark_others(sums, csr.columns, used.data()) : csr.columns;
  const bool all = count == csr.columns;
  constexpr A kSmall = 4 * std::numeric_limits<A>::min() / std::numeric_limits<A>::epsilon();
  if (!all && loops.least(values, csr.stored) * loops.least(x, csr.rows) < kSmall) {
    used = used_columns(csr);
    count = std::count(used.begin(), used.end(), char{1});
  }
  int64_t* index = nullptr;
  Tensor tensor;
  if (packed) {
    const RowsView rows = context.make_rows(0, count);
    tensor = rows.values;
    index = rows.index;
  } else {
    tensor = context.dense_out(0);
  }
  const Result<T> out(context, tensor);
  A* const to = out.data();
  if (all) {
    for (int64_t column = 0; column < count; ++column) to[column] = sums[column] + A{0};
    if (packed) std::iota(index, index + count, int64_t{0});
  } else {
    for (int64_t column = 0, at = 0; at < count; ++column) {  // one without entries is written over
      to[at] = sums[column] + A{0};
      index[at] = column;
      at += used[static_cast<std::size_t>(column)];
    }
  }
  out.round();
}

// Transposed csr (k, m) by (k, n): only columns of the matrix with entries make rows that are not
// zero, which is all that a row_sparse result stores.
template <class T>
void transposed_by_dense(SparseContext& context, const CsrView& csr, int rhs) {
  const NDArray& array = context.in(rhs);
  const int64_t width = array.shape().size(1, array.shape().ndim());
  if (width == 1 && !array.is_sparse() && has_few_columns(csr))
    return transposed_by_vector<T>(context, csr, rhs);
  const int64_t* slots = csr.indices;
  int64_t height = csr.columns;
  Tensor tensor;
  if (context.out(0).is_sparse()) {
    const StoredColumns stored = stored_columns(context, csr);
    slots = stored.slots;
    height = static_cast<int64_t>(stored.columns.size());
    const RowsView rows = context.make_rows(0, height);
    std::copy(stored.columns.begin(), stored.columns.end(), rows.index);
    tensor = rows.values;
  } else {
    tensor = context.dense_out(0);
  }
  if (tensor.size() == 0) return;
  const int64_t* sources = nullptr;
  Tensor dense;
  if (array.is_sparse()) {
    const RowsView rows = context.rows(rhs);
    sources = positions_in(context, rows, all_rows(csr.rows).data(), csr.rows);
    dense = rows.values;
  } else {
    dense = context.dense(rhs);
  }
  const Result<T> out(context, tensor);
  transposed_times_rows(csr, operand<T>(context, csr.values), slots, height, sources,
                        {operand<T>(context, dense), width}, out.data());
  out.round();
}

// Leading dimensions of a dense factor together, also of one without columns.
int64_t rows_of(const Tensor& dense) { return dense.shape().size(0, dense.ndim() - 1); }

// All rows of a csr result have the same columns.
Tensor make_regular(SparseContext& context, std::span<const int64_t> columns) {
  const auto width = static_cast<int64_t>(columns.size());
  const int64_t rows = context.out(0).shape()[0];
  const CsrView out = context.make_csr(0, rows * width);
  for (int64_t row = 0; row <= rows; ++row) out.indptr[row] = row * width;
  for (int64_t row = 0; row < rows; ++row)
    std::copy(columns.begin(), columns.end(), out.indices + row * width);
  return out.values;
}

// (m, k) by csr (k, n).
template <class T>
void dense_by_sparse(SparseContext& context, int lhs, const CsrView& csr) {
  const Tensor dense = context.dense(lhs);
  const int64_t m = rows_of(dense);
  const int64_t* slots = csr.indices;
  Tensor tensor;
  int64_t width = csr.columns;
  if (context.out(0).is_sparse()) {
    const StoredColumns stored = stored_columns(context, csr);
    slots = stored.slots;
    width = static_cast<int64_t>(stored.columns.size());
    tensor = make_regular(context, stored.columns);
  } else {
    tensor = context.dense_out(0);
  }
  const Result<T> out(context, tensor);
  dense_times_csr(operand<T>(context, dense), m, csr, operand<T>(context, csr.values), slots,
                  out.data(), width);
  out.round();
}

// (m, k) by transposed csr (n, k).
template <class T>
void dense_by_transposed(SparseContext& context, int lhs, const CsrView& csr) {
  std::vector<int64_t> rows;
  const bool packed = context.out(0).is_sparse();
  for (int64_t row = 0; row < csr.rows; ++row)
    if (!packed || csr.begin(row) < csr.end(row)) rows.push_back(row);
  const Result<T> out(context, packed ? make_regular(context, rows) : context.dense_out(0));
  const Tensor dense = context.dense(lhs);
  dense_times_csr_rows(operand<T>(context, dense), rows_of(dense), csr,
                       operand<T>(context, csr.values), rows, out.data());
  out.round();
}

// --- dot -----------------------------------------------------------------------------------------

// What the call asks for, else what follows from the layouts of the arguments.
bool settle(const DotParams& params, const StorageTypes& types, StorageType natural) {
  switch (params.forward_stype) {
    case StorageChoice::kNone:
      return types.give(natural);
    case StorageChoice::kDense:
      return types.give(kDense);
    case StorageChoice::kRowSparse:
      return types.give(kRowSparse);
    case StorageChoice::kCSR:
      return types.give(kCSR);
  }
  return false;
}

bool dot_layout(const DotParams& params, const StorageTypes& types) {
  const StorageType lhs = types.in[0], rhs = types.in[1];
  if (lhs == kCSR && rhs != kCSR && !params.transpose_b) {
    if (types.out[0] == kDense && params.forward_stype == StorageChoice::kNone) return true;
    if (!settle(params, types, params.transpose_a ? kRowSparse : kDense)) return false;
    return types.out[0] == kDense || (params.transpose_a && types.out[0] == kRowSparse);
  }
  if (lhs == kDense && rhs == kCSR && !params.transpose_a) {
    if (types.out[0] == kDense && params.forward_stype == StorageChoice::kNone) return true;
    return settle(params, types, kCSR) && types.out[0] != kRowSparse;
  }
  settle(params, types, kDense);
  return false;
}

// Input `csr`, perhaps transposed, by input `dense`, and the other way round.
template <class T>
void csr_by_dense(SparseContext& context, int csr, int dense, bool transposed) {
  const CsrView view = context.csr(csr);
  transposed ? transposed_by_dense<T>(context, view, dense)
             : sparse_by_dense<T>(context, view, dense);
}
template <class T>
void dense_by_csr(SparseContext& context, int dense, int csr, bool transposed) {
  const CsrView view = context.csr(csr);
  transposed ? dense_by_transposed<T>(context, dense, view)
             : dense_by_sparse<T>(context, dense, view);
}

void dot(const DotParams& params, SparseContext& context) {
  dispatch(context.in(0).dtype(), [&]<class T>(TypeTag<T>) {
    context.in(0).is_sparse() ? csr_by_dense<T>(context, 0, 1, params.transpose_a)
                              : dense_by_csr<T>(context, 0, 1, params.transpose_b);
  });
}

// --- its gradient --------------------------------------------------------------------------------
// Inputs: gradient of the result, lhs, rhs. A csr factor keeps its side, transposed.

bool backward_layout(const DotParams& params, const StorageTypes& types) {
  if (types.in[0] != kDense) return false;
  if (params.wrt == 1 && types.in[1] == kCSR && !params.transpose_b) {
    const bool packed = !params.transpose_a && types.out[0] != kDense;
    return types.give(packed ? kRowSparse : kDense);
  }
  return params.wrt == 0 && types.in[1] == kDense && types.in[2] == kCSR && !params.transpose_a &&
         types.give(kDense);
}

void dot_backward(const DotParams& params, SparseContext& context) {
  dispatch(context.in(0).dtype(), [&]<class T>(TypeTag<T>) {
    params.wrt == 1 ? csr_by_dense<T>(context, 1, 0, !params.transpose_a)
                    : dense_by_csr<T>(context, 0, 2, !params.transpose_b);
  });
}

[[maybe_unused]] const bool defined = [] {
  add_sparse<DotParams>("dot", dot_layout, dot, IndexCheck::kInside);
  add_sparse<DotParams>("_backward_dot", backward_layout, dot_backward, IndexCheck::kInside);
  return true;
}();

}  // namespace
}  // namespace mxnet
