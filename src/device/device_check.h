// SPDX-License-Identifier: Apache-2.0
// Checks that every DeviceApi makes on its arguments, so that all of them complain in the same
// words.
#pragma once
#include "base/device.h"
#include "base/export.h"

namespace mxnet {

// Throws Error(kValue) unless 0 <= device < count. `api` is DeviceApi::name().
MX_PLUGIN_API void check_ordinal(const char* api, int device, int count);

// Throws Error(kValue) unless `device` is one of the host kinds.
MX_PLUGIN_API void check_host(const char* api, Device device);

// Throws Error(kValue) unless one end of a copy is a GPU.
MX_PLUGIN_API void check_gpu_end(const char* api, Device to, Device from);

constexpr bool is_host(Device device) { return device.type != DeviceType::kGPU; }

}  // namespace mxnet
