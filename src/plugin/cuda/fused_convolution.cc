// SPDX-License-Identifier: Apache-2.0
// The fused convolution of plans for inference (op/fused/conv.h). What a normalisation does to
// weights is done at each call, in one launch: so weights may change between calls, and a recorded
// graph sees it.
#include "op/fused/conv.h"
#include "plugin/cuda/convolution.h"
#include "plugin/cuda/families.h"

namespace mxnet::cuda {
namespace {

ConvolutionSteps steps_of(const FusedConvParams& params, const KernelContext& context) {
  ConvolutionSteps steps;
  if (!params.conv.no_bias) steps.bias = &context.in(params.bias_input());
  if (params.sum) steps.other = &context.in(1);
  if (!params.post_ops.empty() && params.post_ops.back().kind != PostOp::Kind::kSum)
    steps.activation = params.post_ops.back();
  return steps;
}

// A kernel of one pixel looks the same either way.
bool turns(const FusedConvParams& params, const Tensor& weight) {
  return params.turns_weight && weight.size() != weight.dim(0) * weight.dim(1);
}

void run(const FusedConvParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  ConvolutionSteps steps = steps_of(params, context);
  Tensor weight = context.in(params.weight_input()), bias;
  const Shape filters{params.conv.num_filter};
  if (params.batch_norm || turns(params, weight)) {
    FoldCall fold{.weight = context.in(params.weight_input()),
                  .bias = steps.bias,
                  .eps = params.eps,
                  .turns = turns(params, weight),
                  .weight_to = context.workspace(static_cast<std::size_t>(weight.size()) *
                                                 dtype_size(weight.dtype))};
    if (params.batch_norm) {
      const auto array = [&](int i) { return context.in(params.gamma_input() + i).as<float>(); };
      fold.gamma = params.fix_gamma ? nullptr : array(0);
      fold.beta = array(1);
      fold.mean = array(2);
      fold.variance = array(3);
      fold.bias_to = context.workspace(params.conv.num_filter * dtype_size(weight.dtype));
      bias = {fold.bias_to, &filters, weight.dtype};
      steps.bias = &bias;
    }
    fold_weight(stream, fold);
    weight.data = fold.weight_to;
  }
  convolve_with(stream,
                {.pass = GpuConvPass::kMap,
                 .geometry = conv_geometry(params.conv, data.shape(), out.shape(), false),
                 .image = data,
                 .weight = weight,
                 .map = out,
                 .bias = nullptr,
                 .tune = params.conv.cudnn_tune,
                 .workspace_mib = static_cast<int64_t>(params.conv.workspace)},
                steps, context);
}

}  // namespace

void add_fused_convolutions(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<FusedConvParams, run>(FusedConvParams::kOnGpu));
}

}  // namespace mxnet::cuda
