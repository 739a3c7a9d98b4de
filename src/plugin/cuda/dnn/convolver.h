// SPDX-License-Identifier: Apache-2.0
// Running convolutions: the engine that the variables and the operator's parameters ask for is
// chosen at the first call of each kind and kept.
#pragma once
#include <functional>

#include "op/kernel.h"
#include "plugin/cuda/dnn/convolution.h"

namespace mxnet::cuda {

// Parameters of the operator: cudnn_tune (0 = as MXNET_CUDNN_AUTOTUNE_DEFAULT says, 1 fastest, 2
// fastest within the workspace, 3 off) and workspace.
struct ConvolutionTuning {
  int tune = 0;
  int64_t workspace_mib = 1024;
};

// Computes the array that the pass names. Throws Error(kNotImplemented) where no engine is left.
// Steps, where the convolution has some, become part of it if that was faster when times were
// taken; else apply_steps() takes all of them on the result. The output's memory is no other
// array's: a call may run several times.
void run_convolution(NativeStream* stream, const Convolution& convolution,
                     const ConvolutionTuning& tuning, const ConvolutionArrays& arrays,
                     const std::function<void()>& apply_steps, KernelContext& context);

}  // namespace mxnet::cuda
