// SPDX-License-Identifier: Apache-2.0
// Where the class lives: in libmxnet.so, so that plug-ins and core mean the same one.
#include "device/gpu_module.h"

namespace mxnet {

GpuModule::~GpuModule() = default;

}  // namespace mxnet
