// SPDX-License-Identifier: Apache-2.0
// All that this plug-in computes with.
#pragma once
#include "op/run/gpu_table.h"

namespace mxnet::cuda {

const GpuTable& kernels();

}  // namespace mxnet::cuda
