// SPDX-License-Identifier: Apache-2.0
// Kernels of the plug-in that are no operator's: what stores do with arrays on a GPU.
#pragma once
#include <string_view>

namespace mxnet {

struct GpuKernelRow;

// Null where the loaded plug-in has none of that name, and without one.
const GpuKernelRow* gpu_service(std::string_view name);

}  // namespace mxnet
