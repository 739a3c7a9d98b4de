// SPDX-License-Identifier: Apache-2.0
// _sparse_retain: some rows of an array; all others become zero. It is its own gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "op/op_builder.h"
#include "op/sparse/indices.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;

// What is to be kept: ascending and once each, whatever the caller's order.
std::vector<int64_t> kept_rows(const Tensor& indices, int64_t rows) {
  std::vector<int64_t> kept = read_indices(indices);
  for (int64_t row : kept) {
    if (row < 0 || row >= rows) {
      throw Error(ErrorCode::kIndex, "_sparse_retain",
                  fmt::format("given row {}, expected 0 <= row < {}", row, rows));
    }
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

std::size_t row_bytes(const Shape& shape, DType dtype) {
  return static_cast<std::size_t>(shape.size(1, shape.ndim())) * dtype_size(dtype);
}

void retain(const AnyParams&, SparseContext& context) {
  const NDArray& data = context.in(0);
  std::vector<int64_t> kept = kept_rows(context.dense(1), data.shape()[0]);
  // Of an array that stores nothing nothing is stored; of another, what is missing is zeros.
  if (data.is_sparse() && context.rows(0).stored == 0) kept.clear();
  const RowsView out = context.make_rows(0, static_cast<int64_t>(kept.size()));
  std::copy(kept.begin(), kept.end(), out.index);
  const std::size_t bytes = out.row_bytes();
  if (bytes == 0) return;
  const auto copy_row = [&](std::size_t k, const char* from, int64_t row) {
    std::memcpy(out.values.as<char>() + k * bytes, from + static_cast<std::size_t>(row) * bytes,
                bytes);
  };
  if (!data.is_sparse()) {
    for (std::size_t k = 0; k < kept.size(); ++k) copy_row(k, context.dense(0).as<char>(), kept[k]);
    return;
  }
  const RowsView from = context.rows(0);
  int64_t at = 0;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    while (at < from.stored && from.index[at] < kept[k]) ++at;
    if (at < from.stored && from.index[at] == kept[k]) {
      copy_row(k, from.values.as<char>(), at);
    } else {
      std::memset(out.values.as<char>() + k * bytes, 0, bytes);
    }
  }
}

void retain_dense(const NoParams&, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  const std::size_t bytes = row_bytes(data.shape(), data.dtype);
  if (bytes == 0) return;
  std::memset(out.data, 0, static_cast<std::size_t>(data.dim(0)) * bytes);
  for (int64_t row : kept_rows(context.in(1), data.dim(0))) {
    const std::size_t at = static_cast<std::size_t>(row) * bytes;
    std::memcpy(out.as<char>() + at, data.as<char>() + at, bytes);
  }
}

MX_OP(_sparse_retain, NoParams)
.doc("The rows of `data` that `indices` names; other rows are zero.")
    .input("data", "The array, row_sparse as a rule.")
    .input("indices", "Numbers of rows, of any type.")
    .lenient()
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_as(infer.out(0));
      if (infer.in(0).rank_known() && infer.in(0).ndim() == 0)
        infer.in(0).fail("at least one dimension");
      if (infer.in(1).rank_known() && infer.in(1).ndim() != 1) infer.in(1).fail("one dimension");
    })
    .cpu(retain_dense)
    .grad([](const NoParams&, Grad& grad) {
      if (!grad.wants(0)) return Gradients(2);
      return Gradients{apply("_sparse_retain", {grad.dout(0), grad.in(1)}), Value()};
    });

[[maybe_unused]] const bool defined = [] {
  add_sparse<AnyParams>(
      "_sparse_retain",
      [](const AnyParams&, const StorageTypes& types) {
        const bool sparse = types.in[0] == kRowSparse || types.out[0] == kRowSparse;
        return sparse && types.in[0] != kCSR && types.in[1] == kDense && types.give(kRowSparse);
      },
      retain);
  return true;
}();

}  // namespace
}  // namespace mxnet
