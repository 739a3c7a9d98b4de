// SPDX-License-Identifier: Apache-2.0
// The fused convolution of plans for inference, and the weights that it reads (op/fused/conv.h).
#include "op/fused/conv.h"

#include "base/error.h"
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

// The weight, and what a normalisation makes of it, are nodes before (graph/weights_apart.h).
void run(const FusedConvParams& params, KernelContext& context) {
  MX_ASSERT(!params.batch_norm && !params.turns_weight);
  const Tensor &data = context.in(0), &out = context.out(0);
  convolve_with(context.stream()->native(),
                {.pass = GpuConvPass::kMap,
                 .geometry = conv_geometry(params.conv, data.shape(), out.shape(), false),
                 .image = data,
                 .weight = context.in(params.weight_input()),
                 .map = out,
                 .bias = nullptr,
                 .tune = params.conv.cudnn_tune,
                 .workspace_mib = static_cast<int64_t>(params.conv.workspace)},
                steps_of(params, context), context);
}

void make_weight(const FusedConvParams& params, KernelContext& context) {
  FoldCall fold{.weight = context.in(0),
                .bias = params.folds_bias() ? &context.in(1) : nullptr,
                .eps = params.eps,
                .turns = params.turns_weight,
                .weight_to = context.out(0).data};
  if (params.batch_norm) {
    const int first = params.folds_bias() ? 2 : 1;
    const auto array = [&](int i) { return context.in(first + i).as<float>(); };
    fold.gamma = params.fix_gamma ? nullptr : array(0);
    fold.beta = array(1);
    fold.mean = array(2);
    fold.variance = array(3);
    fold.bias_to = context.out(1).data;
  }
  fold_weight(context.stream()->native(), fold);
}

}  // namespace

void add_fused_convolutions(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<FusedConvParams, run>(FusedConvParams::kOnGpu));
  rows->push_back(kernel_row<FusedConvParams, make_weight>(FusedConvParams::kWeightOnGpu));
}

}  // namespace mxnet::cuda
