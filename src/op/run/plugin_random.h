// SPDX-License-Identifier: Apache-2.0
// draw_key() of random_key.h for kernels of plug-ins, which do not see the host's generators.
#pragma once
#include <cstdint>

#include "base/device.h"
#include "base/export.h"

namespace mxnet {

MX_PLUGIN_API uint64_t draw_plugin_key(Device device);

}  // namespace mxnet
