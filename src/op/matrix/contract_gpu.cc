// SPDX-License-Identifier: Apache-2.0
// Sorts labels into batch, rows, columns and summed ones, brings each array into matrix form (by a
// copy where its strides are none), and asks for the product.
#include "op/matrix/contract_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "op/matrix/matrix_form.h"
#include "op/run/primitives.h"
#include "op/run/single_shape.h"

namespace mxnet {
namespace {

using namespace contraction;

// Matrices of a batch, as a product takes them.
struct Matrices {
  void* data;
  bool transposed;
  int64_t leading, step;  // in elements
};

// Nothing where strides are no matrices'.
std::optional<Matrices> in_place(Dims dims, const Labels& batch, const Labels& rows,
                                 const Labels& columns, const Labelled& array) {
  const auto form = matrix_form(dims, rows, columns, array.strides);
  const auto step = joined_stride(dims, batch, array.strides, 0);
  if (!form || !step) return std::nullopt;
  return Matrices{array.tensor.data, form->transposed, form->leading, *step};
}

// Copies what both strides reach.
void copy_between(Dims dims, const Strides& from_strides, const Strides& to_strides,
                  const void* from, void* to, std::size_t element, KernelContext& context) {
  StridedPlan plan;
  for (std::size_t l = 0; l < dims.size(); ++l)
    if (to_strides[l] != 0) plan.add(dims[l], from_strides[l], to_strides[l]);
  copy_strided(context, plan, from, to, element);
}

// Sums over labels that only this array has, into memory of its own.
Labelled without_own_labels(const GpuTable& gpu, Dims dims, const Labelled& array,
                            const Strides& other, const Strides& out, KernelContext& context,
                            Shape* shape) {
  Labels kept, own;
  for (std::size_t l = 0; l < dims.size(); ++l) {
    if (array.strides[l] == 0 || dims[l] == 1) continue;
    (other[l] != 0 || out[l] != 0 ? kept : own).push_back(l);
  }
  if (own.empty()) return array;
  const Strides strides = packed_strides(dims, {&kept});
  StridedPlan plan;  // from sums to what they are spread over
  for (const std::size_t l : kept) plan.add(dims[l], strides[l], array.strides[l]);
  for (const std::size_t l : own) plan.add(dims[l], 0, array.strides[l]);
  *shape = Shape{product(dims, kept)};
  const Tensor sums{
      context.workspace(static_cast<std::size_t>(shape->size()) * dtype_size(array.tensor.dtype)),
      shape, array.tensor.dtype};
  gpu.sum_strided(context.stream()->native(), plan, array.tensor, sums);
  return {sums, strides};
}

// New memory for matrices of a batch.
Matrices new_matrices(Dims dims, const Labels& batch, const Labels& rows, const Labels& columns,
                      std::size_t element, KernelContext& context) {
  const int64_t m = product(dims, rows), n = product(dims, columns);
  const int64_t size = product(dims, batch) * m * n;
  return {context.workspace(static_cast<std::size_t>(size) * element), false, n, m * n};
}

// The array as matrices: where it lies, or copied.
Matrices as_matrices(Dims dims, const Labels& batch, const Labels& rows, const Labels& columns,
                     const Labelled& array, KernelContext& context) {
  if (const auto matrices = in_place(dims, batch, rows, columns, array)) return *matrices;
  const std::size_t element = dtype_size(array.tensor.dtype);
  const Matrices copy = new_matrices(dims, batch, rows, columns, element, context);
  copy_between(dims, array.strides, packed_strides(dims, {&batch, &rows, &columns}),
               array.tensor.data, copy.data, element, context);
  return copy;
}

void multiply(const GpuTable& gpu, Dims dims, const Roles& roles, const Labelled& a,
              const Labelled& b, const Labelled& out, double alpha, KernelContext& context) {
  const auto& [batch, rows, columns, summed] = roles;
  const Matrices left = as_matrices(dims, batch, rows, summed, a, context);
  const Matrices right = as_matrices(dims, batch, summed, columns, b, context);
  std::optional<Matrices> result = in_place(dims, batch, rows, columns, out);
  const bool direct = result && !result->transposed;
  const std::size_t element = dtype_size(out.tensor.dtype);
  if (!direct) result = new_matrices(dims, batch, rows, columns, element, context);
  gpu.gemm(context.stream()->native(),
           {.dtype = out.tensor.dtype,
            .transpose_a = left.transposed,
            .transpose_b = right.transposed,
            .m = product(dims, rows),
            .n = product(dims, columns),
            .k = product(dims, summed),
            .a = left.data,
            .lda = left.leading,
            .step_a = left.step,
            .b = right.data,
            .ldb = right.leading,
            .step_b = right.step,
            .c = result->data,
            .ldc = result->leading,
            .step_c = result->step,
            .batch = product(dims, batch),
            .alpha = alpha},
           context);
  if (direct) return;
  copy_between(dims, packed_strides(dims, {&batch, &rows, &columns}), out.strides, result->data,
               out.tensor.data, element, context);
}

}  // namespace

void contract_on_gpu(const GpuTable& gpu, Dims dims, std::span<const Labelled> in,
                     const Labelled& out, KernelContext& context, double alpha, double beta) {
  const std::size_t element = dtype_size(out.tensor.dtype);
  if (in.empty() || in.size() > 2 || beta != 0.0 || gpu.gemm == nullptr) {
    throw Error(ErrorCode::kNotImplemented, "contraction",
                fmt::format("given {} arrays, expected one or two on a GPU", in.size()));
  }
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  // What no label reaches (beside a diagonal), and sums of nothing, are zeros.
  if (empty || reached(dims, out.strides) < out.tensor.size())
    clear_memory(context, out.tensor.data, static_cast<std::size_t>(out.tensor.size()) * element);
  if (empty) return;
  Labelled second{{context.workspace(element), &single_shape(), out.tensor.dtype},
                  Strides(dims.size(), 0)};
  if (in.size() == 2)
    second = in[1];
  else
    fill_tensor(context, second.tensor, 1);  // alone it is multiplied by one
  // Of labels that nobody has each term counts as often.
  for (std::size_t l = 0; l < dims.size(); ++l) {
    if (in[0].strides[l] == 0 && second.strides[l] == 0 && out.strides[l] == 0)
      alpha *= static_cast<double>(dims[l]);
  }
  Shape shapes[2];
  const Labelled a =
      without_own_labels(gpu, dims, in[0], second.strides, out.strides, context, &shapes[0]);
  const Labelled b =
      without_own_labels(gpu, dims, second, in[0].strides, out.strides, context, &shapes[1]);
  multiply(gpu, dims, roles_of(dims, a.strides, b.strides, out.strides), a, b, out, alpha, context);
}

}  // namespace mxnet
