// SPDX-License-Identifier: Apache-2.0
// Declaration of the fused fully connected layer. It has prepared kernels only.
#include "op/fused/dense.h"

#include "op/op_builder.h"

namespace mxnet {
namespace {

// Types of everything but the result are given where such a node is made.
void infer(const FusedDenseParams& params, Infer& infer) {
  if (infer.num_in() != params.num_inputs() || !infer.in(0).known()) return;
  infer.out(0).set_dtype(infer.in(0).dtype());
  const Shape& data = infer.in(0).shape();
  if (params.dense.flatten) {
    infer.out(0).set_shape({data[0], params.dense.num_hidden});
    return;
  }
  Shape out = data;
  out[out.ndim() - 1] = params.dense.num_hidden;
  infer.out(0).set_shape(out);
}

OpBuilder<FusedDenseParams>& declare(OpBuilder<FusedDenseParams>& op) {
  return op
      .doc("A fully connected layer with the operators that follow it, in plans for inference.")
      .input("data", "Rows.")
      .input_list("parameters", "What the fused operators read.")
      .num_inputs([](const FusedDenseParams& p) { return p.num_inputs(); })
      .dtypes(kFloating)
      .infer(infer);
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<FusedDenseParams> dense(FusedDenseParams::kWithoutSum), add(FusedDenseParams::kWithSum);
  declare(dense);
  declare(add).inplace(1, 0);
  return add_prepared_kernel(FusedDenseParams::kWithoutSum, prepare_fused_dense) &&
         add_prepared_kernel(FusedDenseParams::kWithSum, prepare_fused_dense);
}();

}  // namespace
}  // namespace mxnet
