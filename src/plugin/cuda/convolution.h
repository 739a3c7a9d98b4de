// SPDX-License-Identifier: Apache-2.0
// Convolutions with what is done before them to weights and after them to results.
#pragma once
#include <optional>

#include "op/fused/post_op.h"
#include "op/run/gpu_table.h"

namespace mxnet {
namespace cuda {

// What happens to the result, in this order; each result is rounded once where the library takes
// all of it, twice where a kernel of ours follows.
struct ConvolutionSteps {
  const Tensor* bias = nullptr;        // a number for each channel is added
  const Tensor* other = nullptr;       // an array like the result is added
  std::optional<PostOp> activation{};  // of those that fused_conv_accepts_on_gpu() knows

  bool none() const { return bias == nullptr && other == nullptr && !activation; }
};

// The call's own bias is not looked at. `other` does not lie where the result does.
void convolve_with(NativeStream* stream, const GpuConvCall& call, const ConvolutionSteps& steps,
                   KernelContext& context);

// The steps alone, in one launch.
void apply_steps(NativeStream* stream, const ConvolutionSteps& steps, bool channels_last,
                 const Tensor& result);

// Weights and bias that do what a normalisation with fixed statistics does behind them, and
// weights in another order. Arrays of the normalisation are float32; null without one.
struct FoldCall {
  const Tensor& weight;          // filters, channels of a group, kernel
  const Tensor* bias = nullptr;  // none is zeros
  const float* gamma = nullptr;  // none is ones
  const float *beta = nullptr, *mean = nullptr, *variance = nullptr;
  double eps = 0;
  bool turns = false;       // what is written has channels last
  void* weight_to;          // of the weight's type ...
  void* bias_to = nullptr;  // ... and so is this; null without a normalisation
};
void fold_weight(NativeStream* stream, const FoldCall& call);

}  // namespace cuda
}  // namespace mxnet
