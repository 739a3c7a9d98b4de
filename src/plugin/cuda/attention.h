// SPDX-License-Identifier: Apache-2.0
// The family of attention, for the table of kernels.
#pragma once
#include <vector>

#include "op/run/gpu_table.h"

namespace mxnet::cuda {

void add_attention(std::vector<GpuKernelRow>* rows);

}  // namespace mxnet::cuda
