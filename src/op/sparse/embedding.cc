// SPDX-License-Identifier: Apache-2.0
// Embedding from and into tables of which only some rows exist.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/params/embedding.h"
#include "op/sparse/arithmetic.h"
#include "op/sparse/indices.h"
#include "op/sparse/products.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

using enum StorageType;

std::vector<int64_t> clipped(const Tensor& data, int64_t rows) {
  std::vector<int64_t> ids = read_indices(data);
  if (rows == 0 && !ids.empty())
    throw Error(ErrorCode::kIndex, "Embedding", "given a table without rows, expected some");
  for (int64_t& id : ids) id = std::clamp(id, int64_t{0}, rows - 1);
  return ids;
}

// --- look-up -------------------------------------------------------------------------------------

bool lookup_layout(const AnyParams&, const StorageTypes& types) {
  return types.in_are({kDense, kRowSparse}) && types.give(kDense);
}

void lookup(const AnyParams&, SparseContext& context) {
  const RowsView table = context.rows(1);
  const Tensor out = context.dense_out(0);
  const std::size_t bytes = table.row_bytes();
  if (out.size() == 0) return;
  const std::vector<int64_t> ids = clipped(context.dense(0), table.rows);
  const int64_t *begin = table.index, *end = begin + table.stored;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    char* to = out.as<char>() + i * bytes;
    const int64_t* found = std::lower_bound(begin, end, ids[i]);
    if (found == end || *found != ids[i]) {
      std::memset(to, 0, bytes);
    } else {
      std::memcpy(to, table.values.as<char>() + static_cast<std::size_t>(found - begin) * bytes,
                  bytes);
    }
  }
}

// --- gradient of the table -----------------------------------------------------------------------

bool gradient_layout(const EmbeddingParams& params, const StorageTypes& types) {
  if (types.in[0] != kDense || types.in[1] != kDense) return false;
  if (types.out[0] == kUndefined && !params.sparse_grad) return false;
  return types.give(kRowSparse);
}

// Inputs: gradient of the output, positions, the table. A matrix with a one in each row, at the
// position that was looked up, transposed and multiplied by the gradient.
void gradient(const EmbeddingParams&, SparseContext& context) {
  const Tensor dout = context.dense(0);
  const int64_t rows = context.out(0).shape()[0];
  std::vector<int64_t> ids = clipped(context.dense(1), rows);
  const auto count = static_cast<int64_t>(ids.size());
  std::vector<int64_t> indptr(ids.size() + 1);
  for (std::size_t i = 0; i < indptr.size(); ++i) indptr[i] = static_cast<int64_t>(i);
  const CsrView chosen{count, rows, count, indptr.data(), ids.data(), {}};
  const StoredColumns used = stored_columns(context, chosen);
  const RowsView out = context.make_rows(0, static_cast<int64_t>(used.columns.size()));
  std::copy(used.columns.begin(), used.columns.end(), out.index);
  if (out.values.size() == 0) return;
  dispatch_dtype<kFloating>(dout.dtype, "Embedding", [&]<class T>(TypeTag<T>) {
    using C = Arithmetic<T>;
    const std::vector<C> ones(ids.size(), C{1});
    const Result<T> result(context, out.values);
    transposed_times_rows<C>(chosen, ones.data(), used.slots, out.stored, nullptr,
                             {operand<T>(context, dout), out.width}, result.data());
    result.round();
  });
}

// --- the operator whose gradient is always row_sparse --------------------------------------------

struct SparseEmbeddingParams {
  int32_t input_dim, output_dim;
  DType dtype;
  bool deterministic;
};

Attrs table_attrs(const SparseEmbeddingParams& params) {
  return {{"input_dim", std::to_string(params.input_dim)},
          {"output_dim", std::to_string(params.output_dim)},
          {"sparse_grad", "True"}};
}

void lookup_dense(const SparseEmbeddingParams&, KernelContext& context) {
  const Tensor &table = context.in(1), &out = context.out(0);
  if (out.size() == 0) return;
  const std::size_t bytes = static_cast<std::size_t>(table.dim(1)) * dtype_size(table.dtype);
  const std::vector<int64_t> ids = clipped(context.in(0), table.dim(0));
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::memcpy(out.as<char>() + i * bytes,
                table.as<char>() + static_cast<std::size_t>(ids[i]) * bytes, bytes);
}

constexpr const char* kDtypes =
    "{'bfloat16', 'float16', 'float32', 'float64', 'int32', 'int64', 'int8', 'uint8'},optional, "
    "default='float32'";

MX_OP(_contrib_SparseEmbedding, SparseEmbeddingParams)
.doc("Embedding whose table has a row_sparse gradient, and may be row_sparse itself.")
    .input("data", "Positions, of any type; those out of range are clipped.")
    .input("weight", "The table.")
    .param("input_dim", &SparseEmbeddingParams::input_dim, "Rows of the table.")
    .at_least<int32_t>(1)
    .param("output_dim", &SparseEmbeddingParams::output_dim, "Length of a row.")
    .at_least<int32_t>(1)
    .dtype_param("dtype", &SparseEmbeddingParams::dtype,
                 DTypeSet::of(DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kInt32,
                              DType::kUInt8),
                 false, "float32", "Type of the table where nothing else says it.")
    .type_text(kDtypes)
    .listed("sparse_grad", "boolean, optional, default=0", "Shown, but not to be given.")
    .param("deterministic", &SparseEmbeddingParams::deterministic, false,
           "Without effect: the gradient always is deterministic.")
    .unlisted()
    .infer(infer_embedding<SparseEmbeddingParams>)
    .cpu(lookup_dense)
    .grad([](const SparseEmbeddingParams& params, Grad& grad) {
      if (!grad.wants(1)) return Gradients(2);
      return Gradients{Value(), apply("_backward_Embedding", {grad.dout(0), grad.in(0), grad.in(1)},
                                      table_attrs(params))};
    });

[[maybe_unused]] const bool defined = [] {
  add_sparse<AnyParams>("Embedding", lookup_layout, lookup);
  add_sparse<AnyParams>("_contrib_SparseEmbedding", lookup_layout, lookup);
  add_sparse<EmbeddingParams>("_backward_Embedding", gradient_layout, gradient);
  return true;
}();

}  // namespace
}  // namespace mxnet
