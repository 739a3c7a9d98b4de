// SPDX-License-Identifier: Apache-2.0
// Chains for the emulated plug-in, in place of NVRTC: as wherever there is no compiled kernel.
#include "plugin/cuda/families.h"

#include "op/fused/pointwise.h"
#include "plugin/cuda/rtc/chain_kernels.h"

namespace mxnet::cuda {

void add_chains(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<PointwiseChain, run_chain_steps>(PointwiseChain::kName));
}

// Nothing is compiled, so that no thread's end has to wait.
void ChainKernels::watch_this_thread() {}

}  // namespace mxnet::cuda
