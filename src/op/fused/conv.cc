// SPDX-License-Identifier: Apache-2.0
// Declaration of the fused convolution. It has prepared kernels only, and the plug-in's.
#include "op/fused/conv.h"

#include <algorithm>

#include "op/kept_results.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

// Types of everything but the result are given where such a node is made.
void infer(const FusedConvParams& params, Infer& infer) {
  if (infer.num_in() != params.num_inputs() || !infer.in(0).known() ||
      !infer.in(params.weight_input()).known())
    return;
  infer.out(0).set_dtype(infer.in(0).dtype());
  const Shape& data = infer.in(0).shape();
  const ConvParams& p = params.conv;
  const bool last = channels_last(p.layout);
  Shape out = data;
  out[last ? out.ndim() - 1 : 1] = p.num_filter;
  for (int i = 0; i < p.spatial(); ++i) {
    const int at = i + (last ? 1 : 2);
    out[at] = (data[at] + 2 * p.pad_of(i) - p.reach(i)) / p.stride_of(i) + 1;
  }
  infer.out(0).set_shape(out);
}

void infer_weight(const FusedConvParams& params, Infer& infer) {
  if (!infer.in(0).known()) return;
  Shape shape = infer.in(0).shape();
  const DType type = infer.in(0).dtype();
  if (params.batch_norm) {
    infer.out(1).set_dtype(type);
    infer.out(1).set_shape({shape[0]});
  }
  if (params.turns_weight) shape = {shape[0], shape[2], shape[3], shape[1]};
  infer.out(0).set_dtype(type);
  infer.out(0).set_shape(shape);
}

OpBuilder<FusedConvParams>& declare(OpBuilder<FusedConvParams>& op) {
  return op.doc("A convolution with the operators that follow it, in plans for inference.")
      .input("data", "Images.")
      .input_list("parameters", "What the fused operators read.")
      .num_inputs([](const FusedConvParams& p) { return p.num_inputs(); })
      .dtypes(kFloating)
      .infer(infer);
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<FusedConvParams> conv(FusedConvParams::kWithoutSum), add(FusedConvParams::kWithSum);
  OpBuilder<FusedConvParams> on_gpu(FusedConvParams::kOnGpu);
  declare(conv);
  declare(on_gpu);
  declare(add).inplace(1, 0);
  OpBuilder<FusedConvParams>(FusedConvParams::kWeightOnGpu)
      .doc("Weights of a convolution as a GPU reads them, in plans for inference.")
      .input_list("parameters", "Of a convolution, and of the normalisation behind it.")
      .num_inputs([](const FusedConvParams& p) {
        return 1 + (p.folds_bias() ? 1 : 0) + (p.batch_norm ? 4 : 0);
      })
      .outputs([](const FusedConvParams& p) { return p.batch_norm ? 2 : 1; })
      .dtypes(kFloating)
      .infer(infer_weight);
  return add_prepared_kernel(FusedConvParams::kWithoutSum, prepare_fused_conv, 1) &&
         add_prepared_kernel(FusedConvParams::kWithSum, prepare_fused_conv, 2) &&
         mark_kept(FusedConvParams::kWeightOnGpu);
}();

bool is_on_gpu(const PostOp& activation) {
  switch (activation.kind) {
    case PostOp::Kind::kRelu:
    case PostOp::Kind::kSigmoid:
    case PostOp::Kind::kTanh:
      return true;
    case PostOp::Kind::kClip:
      return activation.alpha == 0;
    default:
      return false;
  }
}

}  // namespace

bool fused_conv_accepts_on_gpu(const FusedConvParams& params, const Signature& signature) {
  const DType type = signature.in[0].dtype;
  if (!kFloating.contains(type) || type == DType::kFloat64 || params.conv.spatial() > 2)
    return false;
  const auto own = signature.in.first(static_cast<std::size_t>(params.gamma_input()));
  const auto normalisation = signature.in.subspan(own.size());
  if (!std::ranges::all_of(own, [&](const Tensor& t) { return t.dtype == type; }) ||
      !std::ranges::all_of(normalisation,
                           [](const Tensor& t) { return t.dtype == DType::kFloat32; }))
    return false;
  std::span<const PostOp> steps = params.post_ops;
  if (!steps.empty() && steps[0].kind == PostOp::Kind::kSum) steps = steps.subspan(1);
  return steps.empty() || (steps.size() == 1 && is_on_gpu(steps[0]));
}

}  // namespace mxnet
