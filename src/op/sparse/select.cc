// SPDX-License-Identifier: Apache-2.0
// Parts of csr matrices put together anew: slice, Concat, take; and where with a csr condition.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "op/loops/convert.h"
#include "op/params/dense_and_sparse.h"
#include "op/run/dispatch.h"
#include "op/run/element_size.h"
#include "op/sparse/align.h"
#include "op/sparse/indices.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;

std::size_t item(const CsrView& csr) { return dtype_size(csr.values.dtype); }

// Entries [first, first + count) of `from` to place `at` of `to`, columns moved.
void copy_entries(const CsrView& from, int64_t first, int64_t count, const CsrView& to,
                  int64_t at) {
  std::copy_n(from.indices + first, count, to.indices + at);
  if (count > 0)
    std::memcpy(to.values.as<char>() + static_cast<std::size_t>(at) * item(to),
                from.values.as<char>() + static_cast<std::size_t>(first) * item(from),
                static_cast<std::size_t>(count) * item(from));
}

// --- slice ---------------------------------------------------------------------------------------

bool slice_layout(const SliceParams& params, const StorageTypes& types) {
  const bool contiguous = std::all_of(params.step.begin(), params.step.end(),
                                      [](const auto& step) { return !step || *step == 1; });
  return types.in[0] == kCSR && contiguous && types.give(kCSR);
}

// Where a slice begins that inference has found to be sound.
int64_t first_of(const SliceParams& params, std::size_t axis, int64_t extent) {
  if (axis >= params.begin.size() || !params.begin[axis]) return 0;
  const int64_t begin = *params.begin[axis];
  return std::clamp(begin < 0 ? begin + extent : begin, int64_t{0}, extent);
}

// Entries a row from which on it is quicker to look for the first and last one that are wanted.
constexpr int64_t kLongRow = 32;

// Rows from `row` on and columns from `column` on, as many as the output has. Columns ascend.
void slice_long_rows(SparseContext& context, const CsrView& from, int64_t row, int64_t column) {
  const Shape& shape = context.out(0).shape();
  const auto place = [&](int64_t first, int64_t r, int64_t wanted) {
    const int64_t* const indices = from.indices;
    return std::lower_bound(indices + first, indices + from.end(row + r), wanted) - indices;
  };
  const auto rows = static_cast<std::size_t>(shape[0]);
  std::vector<int64_t> begins(rows), ends(rows);
  int64_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto r = static_cast<int64_t>(i);
    begins[i] = place(from.begin(row + r), r, column);
    ends[i] = place(begins[i], r, column + shape[1]);
    count += ends[i] - begins[i];
  }
  const CsrView to = context.make_csr(0, count);
  to.indptr[0] = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const int64_t at = to.indptr[i], size = ends[i] - begins[i];
    copy_entries(from, begins[i], size, to, at);
    std::for_each(to.indices + at, to.indices + at + size,
                  [=](int64_t& index) { index -= column; });
    to.indptr[i + 1] = at + size;
  }
}

void slice(const SliceParams& params, SparseContext& context) {
  const CsrView from = context.csr(0);
  const Shape& shape = context.out(0).shape();
  const int64_t row = first_of(params, 0, from.rows), column = first_of(params, 1, from.columns);
  const int64_t begin = from.begin(row), end = from.begin(row + shape[0]);
  if (shape[1] == from.columns) {
    const CsrView to = context.make_csr(0, end - begin);
    copy_entries(from, begin, end - begin, to, 0);
    for (int64_t r = 0; r <= shape[0]; ++r) to.indptr[r] = from.begin(row + r) - begin;
    return;
  }
  const auto is_wanted = [indices = from.indices, column, width = shape[1]](int64_t k) {
    return static_cast<uint64_t>(indices[k] - column) < static_cast<uint64_t>(width);
  };
  if (from.known_ascending && end - begin >= kLongRow * shape[0])
    return slice_long_rows(context, from, row, column);
  int64_t count = 0;
  for (int64_t k = begin; k < end; ++k) count += is_wanted(k);
  const CsrView to = context.make_csr(0, count);
  dispatch_size(from.values.dtype, [&]<class Item>(Item) {
    const auto* values = from.values.as<const Item>();
    auto* result = to.values.as<Item>();
    int64_t at = 0;
    to.indptr[0] = 0;
    for (int64_t r = 0; r < shape[0]; ++r) {
      // Without a branch an element: what is not wanted is written over.
      for (int64_t k = from.begin(row + r), last = from.end(row + r); k < last && at < count; ++k) {
        result[at] = values[k];
        to.indices[at] = from.indices[k] - column;
        at += is_wanted(k);
      }
      to.indptr[r + 1] = at;
    }
  });
}

// --- Concat --------------------------------------------------------------------------------------

bool concat_layout(const JoinParams& params, const StorageTypes& types) {
  return params.dim == 0 && types.all_in(kCSR) && types.give(kCSR);
}

void concat(const JoinParams&, SparseContext& context) {
  std::vector<CsrView> parts;
  int64_t count = 0;
  for (int i = 0; i < context.num_in(); ++i) {
    parts.push_back(context.csr(i));
    count += parts.back().stored;
  }
  const CsrView to = context.make_csr(0, count);
  int64_t row = 0, at = 0;
  to.indptr[0] = 0;
  for (const CsrView& part : parts) {
    copy_entries(part, 0, part.stored, to, at);
    for (int64_t r = 0; r < part.rows; ++r) to.indptr[++row] = at + part.end(r);
    at += part.stored;
  }
}

// --- take ----------------------------------------------------------------------------------------

bool take_layout(const TakeParams& params, const StorageTypes& types) {
  return params.axis == 0 && params.mode != OutOfRange::kRaise && types.in_are({kCSR, kDense}) &&
         types.give(kCSR);
}

void take(const TakeParams& params, SparseContext& context) {
  const CsrView from = context.csr(0);
  std::vector<int64_t> rows = read_indices(context.dense(1));
  if (from.rows == 0 && !rows.empty())
    throw Error(ErrorCode::kIndex, "take", "given a matrix without rows, expected some");
  int64_t count = 0;
  for (int64_t& row : rows) {
    row = params.mode == OutOfRange::kClip ? std::clamp(row, int64_t{0}, from.rows - 1)
                                           : (row % from.rows + from.rows) % from.rows;
    count += from.end(row) - from.begin(row);
  }
  const CsrView to = context.make_csr(0, count);
  to.indptr[0] = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const int64_t first = from.begin(rows[r]), size = from.end(rows[r]) - first;
    copy_entries(from, first, size, to, to.indptr[r]);
    to.indptr[r + 1] = to.indptr[r] + size;
  }
}

// --- where ---------------------------------------------------------------------------------------

bool where_layout(const AnyParams&, const StorageTypes& types) {
  return types.in_are({kCSR, kDense, kDense}) && types.give(kDense);
}

void where(const AnyParams&, SparseContext& context) {
  const CsrView condition = context.csr(0);
  const Tensor x = context.dense(1), y = context.dense(2), out = context.dense_out(0);
  if (out.size() == 0) return;
  std::memcpy(out.data, y.data, static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  // Where it holds: each stored element is noted, and the next one over it if it does not.
  std::vector<int64_t> places(static_cast<std::size_t>(condition.stored) + 1);
  std::size_t count = 0;
  dispatch_dtype(condition.values.dtype, "where", [&]<class T>(TypeTag<T>) {
    // A byte that is taken for true may be another than 1, and would count as often.
    using Value = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    const auto* const values = condition.values.as<const Value>();
    for (int64_t row = 0; row < condition.rows; ++row) {
      for (int64_t k = condition.begin(row); k < condition.end(row); ++k) {
        places[count] = row * condition.columns + condition.indices[k];
        count += convert<bool>(values[k]);
      }
    }
  });
  places.resize(count);
  dispatch_size(out.dtype, [&]<class Item>(Item) {
    const auto* from = x.as<const Item>();
    auto* to = out.as<Item>();
    for (const int64_t at : places) to[at] = from[at];
  });
}

[[maybe_unused]] const bool defined = [] {
  add_sparse<SliceParams>("slice", slice_layout, slice, IndexCheck::kInside);
  add_sparse<JoinParams>("Concat", concat_layout, concat, IndexCheck::kInside);
  add_sparse<TakeParams>("take", take_layout, take, IndexCheck::kInside);
  add_sparse<AnyParams>("where", where_layout, where, IndexCheck::kInside);
  return true;
}();

}  // namespace
}  // namespace mxnet
