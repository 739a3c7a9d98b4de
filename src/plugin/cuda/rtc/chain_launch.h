// SPDX-License-Identifier: Apache-2.0
// Running a chain as one kernel.
#pragma once
#include "op/fused/pointwise.h"
#include "op/kernel.h"
#include "plugin/cuda/rtc/chain_kernels.h"

namespace mxnet::cuda {

// Inputs of the chain as a call has them.
std::vector<ChainInput> chain_inputs(const PointwiseChain& chain, const KernelContext& context);

// Puts the chain's kernel on the context's stream. False where there is none, or not yet: the
// caller runs the operators one by one. `gpu`: compute capability of the context's device.
bool launch_chain(ChainKernels& kernels, const PointwiseChain& chain, const KernelContext& context,
                  int gpu);

}  // namespace mxnet::cuda
