// SPDX-License-Identifier: Apache-2.0
// Sums over what is stored. Of row_sparse arrays the dense kernel reduces the stored rows, whose
// zeros contribute nothing; of csr matrices rows and columns are summed here.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "ndarray/sparse_convert.h"
#include "op/params/dense_and_sparse.h"
#include "op/params/spread_params.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"
#include "op/sparse/align.h"
#include "op/sparse/column_blocks.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;

bool reduces_all(const std::optional<Shape>& axis) { return !axis || axis->ndim() <= 0; }

// Which of two dimensions are reduced.
struct CsrAxes {
  bool rows = false, columns = false;  // sums along rows, along columns
};
CsrAxes axes_of(const ReduceParams& params, const char* tag) {
  bool named[2] = {};
  if (params.axis)
    for (int64_t axis : params.axis->dims()) named[normalize_axis(axis, 2, tag)] = true;
  if (reduces_all(params.axis)) named[0] = named[1] = true;
  return {named[1] != params.exclude, named[0] != params.exclude};
}

// Sums are wider than elements, as the dense reductions' are.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

// Four sums hide the latency of additions.
template <class T>
[[gnu::noinline]] Sum<T> sum_of(const T* values, int64_t count) {
  Sum<T> sums[4] = {};
  int64_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (int i = 0; i < 4; ++i) sums[i] += static_cast<Sum<T>>(values[k + i]);
  for (; k < count; ++k) sums[0] += static_cast<Sum<T>>(values[k]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <class T>
[[gnu::noinline]] void add_to_columns(const void* values, const int64_t* columns, int64_t count,
                                      void* sums) {
#pragma GCC unroll 4
  for (int64_t k = 0; k < count; ++k)
    static_cast<Sum<T>*>(sums)[columns[k]] += static_cast<Sum<T>>(static_cast<const T*>(values)[k]);
}
using AddToColumns = decltype(&add_to_columns<float>);

// The sums of all columns, each from the first row on. Types are the function's business.
void* sums_of_columns(SparseContext& context, const CsrView& csr, AddToColumns add) {
  auto* const sums = context.workspace_of<int64_t>(csr.columns);
  static_assert(sizeof(Sum<float>) == sizeof(*sums));
  std::memset(sums, 0, static_cast<std::size_t>(csr.columns) * sizeof(*sums));
  const auto add_entries = [&](int64_t begin, int64_t end) {
    const char* values =
        csr.values.as<char>() + static_cast<std::size_t>(begin) * dtype_size(csr.values.dtype);
    add(values, csr.indices + begin, end - begin, sums);
  };
  constexpr int64_t kBlock = kCachedBytes / 4 / static_cast<int64_t>(sizeof(*sums));
  if (csr.columns <= kBlock || !csr.known_ascending ||
      !has_column_blocks(csr, csr.columns / kBlock)) {
    add_entries(0, csr.stored);
    return sums;
  }
  const auto add_block = [&](const int64_t* begins, const int64_t* ends, int64_t, int64_t) {
    for (int64_t row = 0; row < csr.rows; ++row) add_entries(begins[row], ends[row]);
  };
  parallel_for(csr.columns, static_cast<double>(csr.stored) / static_cast<double>(csr.columns),
               [&](int64_t first, int64_t last) {
                 for_column_blocks(csr, csr.indices, first, last, kBlock, add_block);
               });
  return sums;
}

template <class T>
void sum_csr(SparseContext& context, const CsrView& csr, CsrAxes axes, bool mean) {
  using S = Sum<T>;
  const T* values = csr.values.as<const T>();
  T* out = context.dense_out(0).as<T>();
  const auto finish = [mean](S sum, int64_t count) {
    if (std::is_integral_v<T> && count == 0) return T{0};  // no integer is the mean of nothing
    return static_cast<T>(mean ? sum / static_cast<S>(count) : sum);
  };
  if (axes.rows) {
    const int64_t together = axes.columns ? csr.rows : 1;  // rows that make one sum
    const int64_t sums = axes.columns ? 1 : csr.rows;
    parallel_for(sums, static_cast<double>(csr.stored) / static_cast<double>(sums),
                 [&](int64_t first, int64_t last) {
                   for (int64_t row = first; row < last; ++row) {
                     const int64_t begin = csr.begin(row * together);
                     const int64_t end = csr.indptr[(row + 1) * together];
                     out[row] = finish(sum_of(values + begin, end - begin), together * csr.columns);
                   }
                 });
  } else {
    const S* sums = static_cast<const S*>(sums_of_columns(context, csr, add_to_columns<T>));
    for (int64_t c = 0; c < csr.columns; ++c) out[c] = finish(sums[c], csr.rows);
  }
}

// Stored rows reduced by the dense kernel: all at once, or each by itself and then put in its
// place.
void reduce_rows(const ReduceParams& params, SparseContext& context) {
  const RowsView from = context.rows(0);
  const int ndim = context.in(0).shape().ndim();
  bool first_axis = reduces_all(params.axis);
  if (params.axis)
    for (int64_t axis : params.axis->dims())
      first_axis |= normalize_axis(axis, ndim, context.op().name().c_str()) == 0;
  if (first_axis != params.exclude) {
    const Tensor out = context.dense_out(0);
    return context.run_dense({&from.values, 1}, {&out, 1});
  }
  if (context.out(0).is_sparse()) {
    const RowsView to = context.make_rows(0, from.stored);
    std::copy_n(from.index, from.stored, to.index);
    if (from.stored > 0) context.run_dense({&from.values, 1}, {&to.values, 1});
    return;
  }
  const Tensor out = context.dense_out(0);
  if (out.size() == 0) return;
  Shape shape = out.shape();
  const std::size_t bytes =
      static_cast<std::size_t>(shape.size(1, shape.ndim())) * dtype_size(out.dtype);
  shape[0] = from.stored;
  const Tensor packed{context.workspace(static_cast<std::size_t>(from.stored) * bytes), &shape,
                      out.dtype};
  if (from.stored > 0) context.run_dense({&from.values, 1}, {&packed, 1});
  std::memset(out.data, 0, static_cast<std::size_t>(from.rows) * bytes);
  for (int64_t k = 0; k < from.stored; ++k)
    std::memcpy(out.as<char>() + static_cast<std::size_t>(from.index[k]) * bytes,
                packed.as<char>() + static_cast<std::size_t>(k) * bytes, bytes);
}

template <bool mean>
void sum(const ReduceParams& params, SparseContext& context) {
  if (context.in(0).storage_type() == kRowSparse) return reduce_rows(params, context);
  if (context.out(0).size() == 0) return;
  const CsrView csr = context.csr(0);
  const CsrAxes axes = axes_of(params, mean ? "mean" : "sum");
  if (!axes.rows && !axes.columns) {
    throw Error(ErrorCode::kValue, context.op().name(),
                "given exclude=True with all axes of a csr matrix, expected one to reduce");
  }
  dispatch_dtype<kNumeric>(csr.values.dtype, "sum",
                           [&]<class T>(TypeTag<T>) { sum_csr<T>(context, csr, axes, mean); });
}

bool sum_layout(const ReduceParams&, const StorageTypes& types) {
  return types.in[0] != kDense && types.give(kDense);
}
// A mean over rows counts those too that are not stored.
bool mean_layout(const ReduceParams&, const StorageTypes& types) {
  return types.in[0] == kCSR && types.give(kDense);
}

// A column of sums is as sparse as the rows.
bool square_sum_layout(const ReduceParams& params, const StorageTypes& types) {
  if (types.in[0] != kRowSparse) return false;
  const bool column = params.keepdims && !params.exclude && params.axis &&
                      params.axis->ndim() == 1 && (*params.axis)[0] == 1;
  return types.give(column ? kRowSparse : kDense);
}

// Where nothing is stored the gradient is zero: it has the rows of the array that was reduced, and
// of the gradient of a column of sums, if that is sparse: lazy updates leave the others alone.
bool square_sum_gradient_layout(const SpreadParams&, const StorageTypes& types) {
  return types.in[2] == kRowSparse && types.in[0] != kCSR && types.give(kRowSparse);
}

// REQUIRES: a sparse column of gradients.
void square_sum_gradient_of_common_rows(SparseContext& context, const RowsView& x) {
  const RowsView head = context.rows(0);
  const std::vector<int64_t> common = rows_of_both(head, x);
  const std::span<const int64_t> rows(common);
  const RowsView to = context.make_rows(0, static_cast<int64_t>(rows.size()));
  std::copy(rows.begin(), rows.end(), to.index);
  if (to.width == 0) return;
  const RowSource of_x = RowSource::stored(x, rows);
  run_rows(context, rows, std::array{RowSource::stored(head, rows), of_x, of_x},
           std::array{RowSource::packed(to.values)});
}

// Inputs: gradient of the sums, the sums, which nobody reads, and the array. The dense kernel on
// the stored rows.
void square_sum_gradient(const SpreadParams& params, SparseContext& context) {
  const RowsView x = context.rows(2);
  const bool sparse = context.in(0).storage_type() == kRowSparse;
  const bool over_rows = (params.axes(x.values.ndim(), "_backward_square_sum") & 1) != 0;
  if (sparse && !over_rows) return square_sum_gradient_of_common_rows(context, x);
  const Tensor to = context.make_like(0, 2);
  if (to.size() == 0) return;
  if (over_rows) {  // one for all
    NDArray whole = context.in(0);
    if (sparse) {  // perhaps without some elements
      whole = NDArray(whole.shape(), whole.dtype(), Device::cpu());
      convert_storage(context.in(0), whole);
    }
    const Tensor head{whole.data(), &whole.shape(), whole.dtype()};
    const Tensor in[] = {head, head, x.values};
    return context.run_dense(in, {&to, 1});
  }
  const std::span<const int64_t> rows(x.index, static_cast<std::size_t>(x.stored));
  const RowSource of_x = RowSource::packed(x.values);
  const std::array in{RowSource::dense(context.dense(0)), of_x, of_x};
  run_rows(context, rows, in, std::array{RowSource::packed(to)});
}

bool norm_layout(const NormParams& params, const StorageTypes& types) {
  return types.in[0] != kDense && reduces_all(params.axis) && types.give(kDense);
}
void norm(const NormParams&, SparseContext& context) {
  const bool csr = context.in(0).storage_type() == kCSR;
  const Tensor values = csr ? context.csr(0).values : context.rows(0).values;
  const Tensor out = context.dense_out(0);
  context.run_dense({&values, 1}, {&out, 1});
}

[[maybe_unused]] const bool defined = [] {
  add_sparse<ReduceParams>("sum", sum_layout, sum<false>, IndexCheck::kInside);
  add_sparse<ReduceParams>("mean", mean_layout, sum<true>, IndexCheck::kInside);
  add_sparse<ReduceParams>("_square_sum", square_sum_layout, reduce_rows);
  add_sparse<SpreadParams>("_backward_square_sum", square_sum_gradient_layout, square_sum_gradient);
  add_sparse<NormParams>("norm", norm_layout, norm, IndexCheck::kNone);
  return true;
}();

}  // namespace
}  // namespace mxnet
