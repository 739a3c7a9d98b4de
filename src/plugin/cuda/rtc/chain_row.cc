// SPDX-License-Identifier: Apache-2.0
// Chains of pointwise operators on GPUs: one compiled kernel once there is one, the operators' own
// kernels until then and wherever there cannot be one.
#include "plugin/cuda/families.h"
#include "plugin/cuda/handles.h"
#include "plugin/cuda/rtc/chain_launch.h"

namespace mxnet::cuda {
namespace {

void run(const PointwiseChain& chain, KernelContext& context) {
  const int gpu = CudaStream::from(context.stream()->native())->capability();
  if (!launch_chain(ChainKernels::get(), chain, context, gpu)) run_chain_steps(chain, context);
}

}  // namespace

void add_chains(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<PointwiseChain, run>(PointwiseChain::kName));
}

}  // namespace mxnet::cuda
