// SPDX-License-Identifier: Apache-2.0
// Declaration of the fused fully connected layer. It has prepared kernels only, and the plug-in's.
#include "op/fused/dense.h"

#include <algorithm>

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
  OpBuilder<FusedDenseParams> on_gpu(FusedDenseParams::kOnGpu);
  declare(dense);
  declare(on_gpu);
  declare(add).inplace(1, 0);
  return add_prepared_kernel(FusedDenseParams::kWithoutSum, prepare_fused_dense) &&
         add_prepared_kernel(FusedDenseParams::kWithSum, prepare_fused_dense);
}();

}  // namespace

bool fused_dense_accepts_on_gpu(const FusedDenseParams& params, const Signature& signature) {
  const DType type = signature.in[0].dtype;
  if (!kFloating.contains(type) || type == DType::kFloat64 || params.sum ||
      !std::ranges::all_of(signature.in, [&](const Tensor& t) { return t.dtype == type; }))
    return false;
  const std::vector<PostOp>& steps = params.post_ops;
  return steps.empty() ||
         (steps.size() == 1 && steps[0].kind == PostOp::Kind::kRelu && steps[0].alpha == 0);
}
}  // namespace mxnet
