// SPDX-License-Identifier: Apache-2.0
// Optimizers under row_sparse gradients: their dense kernels run on the rows that the gradient has
// (lazy updates), or on all rows with zeros for a missing gradient, in place.
#include <cstring>

#include "op/params/update_scalars.h"
#include "op/sparse/align.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;

bool update_layout(const UpdateScalars&, const StorageTypes& types) {
  if (types.in[1] != kRowSparse || types.in[0] == kCSR) return false;
  for (StorageType state : types.in.subspan(2))
    if (state == kCSR) return false;
  return types.give(types.in[0]);
}

// The weight, which the output becomes.
Tensor weight_in_place(SparseContext& context) {
  const NDArray &weight = context.in(0), &out = context.out(0);
  const bool same = weight.chunk() == out.chunk() && weight.offset() == out.offset();
  if (weight.is_sparse()) {
    if (same) return context.fill_up(0).values;
    const RowsView from = context.rows(0), to = context.make_rows(0, from.rows);
    for (int64_t row = 0; row < to.rows; ++row) to.index[row] = row;
    const std::size_t bytes = to.row_bytes();
    if (bytes == 0) return to.values;
    std::memset(to.values.data, 0, static_cast<std::size_t>(to.rows) * bytes);
    for (int64_t k = 0; k < from.stored; ++k)
      std::memcpy(to.values.as<char>() + static_cast<std::size_t>(from.index[k]) * bytes,
                  from.values.as<char>() + static_cast<std::size_t>(k) * bytes, bytes);
    return to.values;
  }
  const Tensor to = context.dense_out(0);
  if (!same && to.size() > 0) std::memcpy(to.data, context.dense(0).data, out.bytes());
  return to;
}

// As documented, an update is lazy only where the states are stored as the weight is.
bool states_as_weight(const SparseContext& context) {
  for (int i = 2; i < context.num_in(); ++i)
    if (context.in(i).is_sparse() != context.in(0).is_sparse()) return false;
  return true;
}

void update(SparseContext& context, bool lazy) {
  const Tensor weight = weight_in_place(context);
  if (context.rows(1).width == 0) return;
  std::vector<RowSource> in{RowSource::dense(weight)};
  for (int i = 2; i < context.num_in(); ++i) {
    const bool sparse = context.in(i).is_sparse();
    in.push_back(RowSource::updated(sparse ? context.fill_up(i).values : context.dense(i)));
  }
  // Only now: it may be one of those that have been filled up.
  const RowsView grad = context.rows(1);
  const std::vector<int64_t> all = lazy ? std::vector<int64_t>{} : all_rows(grad.rows);
  const std::span<const int64_t> rows =
      lazy ? std::span<const int64_t>(grad.index, static_cast<std::size_t>(grad.stored)) : all;
  in.insert(in.begin() + 1, lazy ? RowSource::packed(grad.values) : RowSource::stored(grad, rows));
  const RowSource out = RowSource::dense(weight);
  run_rows(context, rows, in, {&out, 1});
}

[[maybe_unused]] const bool defined = [] {
  for (const char* op : {"sgd_update", "sgd_mom_update", "adam_update"}) {
    add_sparse<UpdateScalars>(
        op, update_layout,
        [](const UpdateScalars& params, SparseContext& context) {
          update(context, params.lazy_update && states_as_weight(context));
        },
        IndexCheck::kDistinct, /*in_place=*/true);
  }
  // A weight follows from its states, with or without a gradient.
  add_sparse<UpdateScalars>(
      "ftrl_update", update_layout,
      [](const UpdateScalars&, SparseContext& context) {
        update(context, context.in(0).is_sparse() && states_as_weight(context));
      },
      IndexCheck::kDistinct, /*in_place=*/true);
  // Made for gradients of few rows: they never touch the others.
  for (const char* op : {"_sparse_adagrad_update", "_contrib_group_adagrad_update"}) {
    add_sparse<UpdateScalars>(
        op, update_layout,
        [](const UpdateScalars&, SparseContext& context) { update(context, true); },
        IndexCheck::kDistinct, /*in_place=*/true);
  }
  return true;
}();

}  // namespace
}  // namespace mxnet
