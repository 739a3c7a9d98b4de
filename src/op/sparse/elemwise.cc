// SPDX-License-Identifier: Apache-2.0
// Sums, products and quotients of arrays in different layouts, and gradients of elementwise
// functions: which rows or elements are computed is decided here, how by the dense kernel.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "op/inline_vector.h"
#include "op/params/dense_and_sparse.h"
#include "op/run/accumulate.h"
#include "op/run/element_size.h"
#include "op/run/parallel.h"
#include "op/sparse/align.h"
#include "op/sparse/csr_merge.h"
#include "op/sparse/csr_pairs.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;
using Rows = std::vector<int64_t>;

// A csr operand as a dense matrix in scratch memory, for results that are dense anyway. Elements of
// one column are added, as where two csr matrices meet.
Tensor unpacked(SparseContext& context, int i) {
  const NDArray& array = context.in(i);
  if (!array.is_sparse()) return context.dense(i);
  const CsrView csr = context.csr(i);
  const Tensor result{context.workspace(array.bytes()), &array.shape(), array.dtype()};
  std::memset(result.data, 0, array.bytes());
  dispatch_size(array.dtype(), [&]<class Item>(Item) {
    const Shape one{1};
    auto* to = result.as<Item>();
    auto* const from = csr.values.as<Item>();
    for (int64_t row = 0; row < csr.rows; ++row, to += csr.columns) {
      for (int64_t k = csr.begin(row); k < csr.end(row); ++k) {
        Item& element = to[csr.indices[k]];
        if (element == 0)
          element = from[k];
        else
          accumulate({&element, &one, array.dtype()}, {from + k, &one, array.dtype()});
      }
    }
  });
  return result;
}

// --- row_sparse and dense ------------------------------------------------------------------------

using Sources = std::vector<RowSource>;

// Operand i as the rows in question have it.
RowSource source_of(SparseContext& context, int i, std::span<const int64_t> rows) {
  if (context.in(i).storage_type() != kRowSparse) return RowSource::dense(unpacked(context, i));
  const RowsView view = context.rows(i);
  return std::equal(rows.begin(), rows.end(), view.index, view.index + view.stored)
             ? RowSource::packed(view.values)
             : RowSource::stored(view, rows);
}
Sources sources_of(SparseContext& context, std::span<const int64_t> rows) {
  Sources sources;
  sources.reserve(static_cast<std::size_t>(context.num_in()));
  for (int i = 0; i < context.num_in(); ++i) sources.push_back(source_of(context, i, rows));
  return sources;
}

void compute_rows(SparseContext& context, std::span<const int64_t> rows, const Sources& sources) {
  if (!context.out(0).is_sparse()) {
    if (context.out(0).size() == 0) return;
    const RowSource out = RowSource::dense(context.dense_out(0));
    return run_rows(context, rows, sources, {&out, 1});
  }
  const RowsView result = context.make_rows(0, static_cast<int64_t>(rows.size()));
  std::copy(rows.begin(), rows.end(), result.index);
  if (result.width == 0) return;
  const RowSource out = RowSource::packed(result.values);
  run_rows(context, rows, sources, {&out, 1});
}
void compute_rows(SparseContext& context, std::span<const int64_t> rows) {
  compute_rows(context, rows, sources_of(context, rows));
}

bool same_rows(const RowsView& a, const RowsView& b) {
  return a.stored == b.stored && std::equal(a.index, a.index + a.stored, b.index);
}

// The rows that row_sparse operand i stores, into a row_sparse result.
void compute_rows_of(SparseContext& context, int i) {
  const RowsView view = context.rows(i);
  const RowSource out = RowSource::packed(context.make_like(0, i));
  if (view.width == 0) return;
  const std::span<const int64_t> rows(view.index, static_cast<std::size_t>(view.stored));
  run_rows(context, rows, sources_of(context, rows), {&out, 1});
}

// Two row_sparse operands whose rows are of a few bytes: these are merged with their numbers, as
// the elements of one row of csr.
bool merge_narrow_rows(SparseContext& context, const RowsView& left, const RowsView& right,
                       Align align) {
  const std::size_t item = left.row_bytes();
  if (item > 8 || !std::has_single_bit(item) || right.row_bytes() != item) return false;
  const int64_t most =
      align == Align::kAny ? left.stored + right.stored : std::min(left.stored, right.stored);
  const RowsView out = context.make_rows(0, most);
  const std::size_t room = static_cast<std::size_t>(most) * item + kMergeSlack;
  const Merged merged{out.index, most, static_cast<char*>(context.workspace(room)),
                      static_cast<char*>(context.workspace(room))};
  const auto line = [](const RowsView& view, int64_t(&ends)[2]) {
    ends[1] = view.stored;
    return Lines{ends, view.index, view.values.as<char>()};
  };
  int64_t left_ends[2] = {}, right_ends[2] = {}, ends[2] = {};
  const int64_t count = merge_of(item, align, left.rows)(
      line(left, left_ends), line(right, right_ends), 1, merged, ends, 0);
  Shape shape = left.values.shape();
  shape[0] = count;
  const std::array<Tensor, 2> in{Tensor{merged.left, &shape, left.values.dtype},
                                 Tensor{merged.right, &shape, right.values.dtype}};
  const Tensor result{out.values.data, &shape, out.values.dtype};
  if (count > 0) context.run_dense(in, {&result, 1});
  context.keep(0, count);
  return true;
}

// All of a dense result as if no sparse operand stored a row.
void compute_of_zeros(SparseContext& context) {
  constexpr int64_t kBlockBytes = 32768;  // of zeros, which stay in the caches
  const Tensor out = context.dense_out(0);
  std::vector<Tensor> in;
  for (int i = 0; i < context.num_in(); ++i) {
    const bool stored = context.in(i).storage_type() == kRowSparse;
    in.push_back(stored ? Tensor{nullptr, nullptr, context.in(i).dtype()} : unpacked(context, i));
  }
  parallel_for(out.size(), 1.0, [&](int64_t first, int64_t last) {
    constexpr int64_t kBlock = kBlockBytes / 8;  // of any type
    const std::vector<char> zeros(kBlockBytes);
    for (; first < last; first += kBlock) {
      const Shape shape{std::min(kBlock, last - first)};
      const auto part = [&](const Tensor& tensor) {
        char* const data = tensor.as<char>();
        const std::size_t start = static_cast<std::size_t>(first) * dtype_size(tensor.dtype);
        return Tensor{data == nullptr ? const_cast<char*>(zeros.data()) : data + start, &shape,
                      tensor.dtype};
      };
      InlineVector<Tensor, 8> parts;
      for (const Tensor& tensor : in) parts.push_back(part(tensor));
      const Tensor result = part(out);
      context.run_dense(parts.span(), {&result, 1});
    }
  });
}

// f(0, 0, ...) = 0: rows that any operand stores; into a dense result all rows.
void union_rows(SparseContext& context) {
  std::vector<RowsView> views;
  for (int i = 0; i < context.num_in(); ++i)
    if (context.in(i).storage_type() == kRowSparse) views.push_back(context.rows(i));
  if (context.out(0).is_sparse() &&
      std::all_of(views.begin(), views.end(),
                  [&](const RowsView& view) { return same_rows(view, views[0]); }))
    return compute_rows_of(context, 0);
  if (views.size() == 2 && context.num_in() == 2 && context.out(0).is_sparse()) {
    if (merge_narrow_rows(context, views[0], views[1], Align::kAny)) return;
    UnionOfTwo both = union_of(views[0], views[1]);
    return compute_rows(context, both.rows,
                        {RowSource::stored(views[0], std::move(both.left)),
                         RowSource::stored(views[1], std::move(both.right))});
  }
  const Rows rows = rows_of_any(views);
  if (context.out(0).is_sparse()) return compute_rows(context, rows);
  if (context.out(0).size() == 0) return;
  // Where few rows are stored, the others are computed in long stretches. Wide rows are long
  // enough.
  constexpr std::size_t kWideBytes = 256;
  const int64_t all = context.out(0).shape()[0];
  if (views[0].row_bytes() > kWideBytes || static_cast<int64_t>(rows.size()) > all / 2)
    return compute_rows(context, all_rows(all));
  compute_of_zeros(context);
  compute_rows(context, rows);
}

// f(0, x) = f(x, 0) = 0: rows that all sparse operands store.
void common_rows(SparseContext& context) {
  if (!context.in(0).is_sparse()) return compute_rows_of(context, 1);
  if (!context.in(1).is_sparse()) return compute_rows_of(context, 0);
  const RowsView left = context.rows(0), right = context.rows(1);
  if (same_rows(left, right)) return compute_rows_of(context, 0);
  if (!merge_narrow_rows(context, left, right, Align::kBoth))
    compute_rows(context, rows_of_both(left, right));
}

// --- csr -----------------------------------------------------------------------------------------

// The dense kernel on `count` elements that lie together.
void run_flat(SparseContext& context, const Tensor& lhs, const Tensor& rhs, const Tensor& out,
              int64_t count) {
  if (count == 0) return;
  const Shape shape{count};
  std::array<Tensor, 2> in{lhs, rhs};
  Tensor result = out;
  in[0].shape_ptr = in[1].shape_ptr = result.shape_ptr = &shape;
  context.run_dense(in, {&result, 1});
}

// The elements of a dense operand that stand where a csr matrix has some; the operand may be a row,
// a column or one number.
Tensor picked(SparseContext& context, const CsrView& pattern, const Tensor& dense) {
  const int ndim = dense.ndim();
  const int64_t rows = ndim >= 2 ? dense.dim(ndim - 2) : 1;
  const int64_t columns = ndim >= 1 ? dense.dim(ndim - 1) : 1;
  const int64_t row_step = rows == 1 ? 0 : columns, column_step = columns == 1 ? 0 : 1;
  const Tensor result{
      context.workspace(static_cast<std::size_t>(pattern.stored) * dtype_size(dense.dtype)),
      nullptr, dense.dtype};
  // Elements are moved, not read: their size is all that matters.
  dispatch_size(dense.dtype, [&]<class Item>(Item) {
    const auto* from = dense.as<const Item>();
    auto* to = result.as<Item>();
    for (int64_t row = 0; row < pattern.rows; ++row, from += row_step) {
      const int64_t begin = pattern.begin(row), end = pattern.end(row);
      if (column_step == 0) {
        std::fill(to + begin, to + end, *from);
      } else {
        for (int64_t k = begin; k < end; ++k) to[k] = from[pattern.indices[k]];
      }
    }
  });
  return result;
}

// A csr row or column as the matrix that it broadcasts to, in scratch memory.
CsrView repeated(SparseContext& context, const CsrView& from, const Shape& shape) {
  const int64_t rows = shape[0], columns = shape[1];
  const int64_t across = from.columns == columns ? 1 : columns;
  const auto source_row = [&](int64_t row) { return from.rows == 1 ? 0 : row; };
  CsrView to{rows, columns, 0, context.workspace_of<int64_t>(rows + 1), nullptr, from.values};
  to.indptr[0] = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t source = source_row(row);
    to.indptr[row + 1] = to.indptr[row] + (from.end(source) - from.begin(source)) * across;
  }
  to.stored = to.indptr[rows];
  to.indices = context.workspace_of<int64_t>(to.stored);
  std::vector<int64_t> positions;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t source = source_row(row);
    for (int64_t k = from.begin(source); k < from.end(source); ++k) {
      for (int64_t j = 0; j < across; ++j) {
        to.indices[positions.size()] = across == 1 ? from.indices[k] : j;
        positions.push_back(k);
      }
    }
  }
  to.values.data = context.workspace(positions.size() * dtype_size(from.values.dtype));
  gather_elements(from.values, positions, to.values.data);
  return to;
}

// f(0, x) = 0: the pattern of the csr operand `at`; the other is dense.
void csr_pattern(SparseContext& context, const CsrView& pattern, const Tensor& out, int at) {
  const Tensor other = picked(context, pattern, context.dense(1 - at));
  if (at == 0) return run_flat(context, pattern.values, other, out, pattern.stored);
  run_flat(context, other, pattern.values, out, pattern.stored);
}

void through_dense(SparseContext& context) {
  if (context.out(0).size() == 0) return;
  const std::array<Tensor, 2> in{unpacked(context, 0), unpacked(context, 1)};
  const Tensor out = context.dense_out(0);
  context.run_dense(in, {&out, 1});
}

// --- rules ---------------------------------------------------------------------------------------

bool has(const StorageTypes& types, StorageType type) {
  return std::find(types.in.begin(), types.in.end(), type) != types.in.end();
}

// add, sub: two of a layout keep it; with a dense one the result is dense.
bool sum_layout(const AnyParams&, const StorageTypes& types) {
  if (types.all_in(kDense)) return false;
  if (types.all_in(types.in[0])) return types.give(types.in[0]);
  return has(types, kDense) && types.give(kDense);
}
void sum(const AnyParams&, SparseContext& context) {
  const bool csr = context.in(0).storage_type() == kCSR || context.in(1).storage_type() == kCSR;
  if (!csr) return union_rows(context);
  if (context.out(0).is_sparse()) return combine_csr(context, Align::kAny);
  check_columns(context);
  through_dense(context);
}

// maximum, minimum, hypot: of two sparse ones only.
bool extremum_layout(const AnyParams&, const StorageTypes& types) {
  return !types.all_in(kDense) && types.all_in(types.in[0]) && types.give(types.in[0]);
}

// mul: as sparse as its sparsest operand.
bool product_layout(const AnyParams&, const StorageTypes& types) {
  if (types.all_in(kDense) || (has(types, kCSR) && has(types, kRowSparse))) return false;
  return types.give(has(types, kCSR) ? kCSR : kRowSparse);
}
void product(const AnyParams&, SparseContext& context) {
  if (context.out(0).storage_type() == kRowSparse) return common_rows(context);
  if (context.in(0).storage_type() == context.in(1).storage_type())
    return combine_csr(context, Align::kBoth);
  check_columns(context);
  const int at = context.in(0).is_sparse() ? 0 : 1;
  csr_pattern(context, context.csr(at), context.make_like(0, at), at);
}

// _scatter_elemwise_div: a quotient where the dividend is stored.
bool dividend_layout(const AnyParams&, const StorageTypes& types) {
  return types.in[0] == kRowSparse && types.give(kRowSparse);
}
void dividend_rows(const AnyParams&, SparseContext& context) { compute_rows_of(context, 0); }

// A csr matrix times or by a dense row, column or matrix. By zero, or times infinity, what is not
// stored stays zero.
bool csr_scaled_layout(const AnyParams&, const StorageTypes& types) {
  return types.in_are({kCSR, kDense}) && types.give(kCSR);
}
void csr_scaled(const AnyParams&, SparseContext& context) {
  const Shape& in = context.in(0).shape();
  const Shape& out = context.out(0).shape();
  if (in == out) return csr_pattern(context, context.csr(0), context.make_like(0, 0), 0);
  const CsrView pattern = repeated(context, context.csr(0), out);
  const CsrView to = context.make_csr(0, pattern.stored);
  std::copy_n(pattern.indptr, pattern.rows + 1, to.indptr);
  std::copy_n(pattern.indices, pattern.stored, to.indices);
  csr_pattern(context, pattern, to.values, 0);
}
bool csr_shifted_layout(const AnyParams&, const StorageTypes& types) {
  return (types.in_are({kCSR, kDense}) || types.in_are({kDense, kCSR})) && types.give(kDense);
}
void csr_shifted(const AnyParams&, SparseContext& context) { through_dense(context); }

bool add_n_layout(const AnyParams&, const StorageTypes& types) {
  if (types.all_in(kDense) || has(types, kCSR)) return false;
  return types.give(types.all_in(kRowSparse) ? kRowSparse : kDense);
}
void add_n(const AnyParams&, SparseContext& context) { union_rows(context); }

// Gradient of an elementwise function: as sparse as the gradient that arrives (0), whatever the
// operand (1); into a given row_sparse array also all rows of a dense one.
bool slope_layout(const AnyParams&, const StorageTypes& types) {
  if (has(types, kCSR)) return false;
  if (types.in[0] == kRowSparse) return types.give(kRowSparse);
  return types.out[0] == kRowSparse || types.give(kDense);
}
void slope_rows(const AnyParams&, SparseContext& context) {
  if (context.in(0).is_sparse()) return compute_rows_of(context, 0);
  compute_rows(context, all_rows(context.out(0).shape()[0]));
}

[[maybe_unused]] const bool defined = [] {
  for (const char* op : {"elemwise_add", "elemwise_sub", "_grad_add"})
    add_sparse<AnyParams>(op, sum_layout, sum, IndexCheck::kRows);
  for (const char* op : {"_maximum", "_minimum", "_hypot"})
    add_sparse<AnyParams>(op, extremum_layout, sum, IndexCheck::kRows);
  add_sparse<AnyParams>("elemwise_mul", product_layout, product, IndexCheck::kRows);
  add_sparse<AnyParams>("_scatter_elemwise_div", dividend_layout, dividend_rows);
  for (const char* op : {"broadcast_mul", "broadcast_div"})
    add_sparse<AnyParams>(op, csr_scaled_layout, csr_scaled, IndexCheck::kInside);
  for (const char* op : {"broadcast_add", "broadcast_sub"})
    add_sparse<AnyParams>(op, csr_shifted_layout, csr_shifted, IndexCheck::kInside);
  add_sparse<AnyParams>("add_n", add_n_layout, add_n);
  for (const char* op :
       {"abs", "arcsin", "arcsinh", "arctan",   "arctanh", "cbrt", "ceil", "degrees", "expm1",
        "fix", "floor",  "log1p",   "negative", "radians", "relu", "rint", "round",   "sign",
        "sin", "sinh",   "sqrt",    "square",   "tan",     "tanh", "trunc"}) {
    add_sparse<AnyParams>(std::string("_backward_") + op, slope_layout, slope_rows);
  }
  return true;
}();

}  // namespace
}  // namespace mxnet
