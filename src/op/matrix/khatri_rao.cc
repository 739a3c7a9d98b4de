// SPDX-License-Identifier: Apache-2.0
// The Khatri-Rao product: Kronecker products column by column.
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/rows/binary_kernel.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

struct KhatriRaoParams {
  int32_t num_args;
};

void infer_khatri_rao(const KhatriRaoParams&, Infer& infer) {
  infer.one_dtype();
  int64_t rows = 1;
  for (int i = 0; i < infer.num_in(); ++i) {
    if (!infer.in(i).known()) return;
    if (infer.in(i).ndim() != 2) infer.in(i).fail("two dimensions");
    infer.in(i).set_dim(1, infer.in(0).dim(1));
    rows *= infer.in(i).dim(0);
  }
  infer.out(0).set_shape(Shape{rows, infer.in(0).dim(1)});
}

// Row (r0, r1, ...) is the product of row r0 of the first, r1 of the second and so on: built from
// the first matrix by multiplying in one more at a time.
void khatri_rao_kernel(const KhatriRaoParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  const int64_t columns = out.dim(1), last = context.num_in() - 1;
  Tensor product = context.in(0);
  int64_t rows = product.dim(0);
  if (last == 0)
    return copy_memory(context, product.data, out.data, product.size() * dtype_size(out.dtype));
  for (int i = 1; i <= last; ++i) {
    const Tensor& factor = context.in(i);
    const Shape left{rows, 1, columns}, right{1, factor.dim(0), columns};
    const Shape both{rows, factor.dim(0), columns};
    void* const memory =
        i == last
            ? out.data
            : context.workspace(static_cast<std::size_t>(both.size()) * dtype_size(out.dtype));
    run_binary(BinaryRow::multiply, {product.data, &left, out.dtype},
               {factor.data, &right, out.dtype}, {memory, &both, out.dtype}, context);
    rows *= factor.dim(0);
    product.data = memory;
  }
}

MX_OP(khatri_rao, KhatriRaoParams)
.doc("Column-wise Kronecker product of matrices.")
    .inputs("args", "Matrices with equally many columns.", &KhatriRaoParams::num_args, "num_args")
    .input_names([](const KhatriRaoParams& p) { return numbered_names("arg", p.num_args); })
    .param("num_args", &KhatriRaoParams::num_args, "Number of matrices.")
    .at_least<int32_t>(1)
    .unlisted()
    .dtypes(kNumeric)
    .infer(infer_khatri_rao)
    .cpu(khatri_rao_kernel);
[[maybe_unused]] const bool portable = mark_portable({"khatri_rao"});

}  // namespace
}  // namespace mxnet
