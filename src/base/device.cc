// SPDX-License-Identifier: Apache-2.0
// Names of devices for messages.
#include "base/device.h"

namespace mxnet {

std::string to_string(Device device) {
  const char* name = "device";
  switch (device.type) {
    case DeviceType::kCPU:
      name = "cpu";
      break;
    case DeviceType::kGPU:
      name = "gpu";
      break;
    case DeviceType::kCPUPinned:
      name = "cpu_pinned";
      break;
    case DeviceType::kCPUShared:
      name = "cpu_shared";
      break;
  }
  return std::string(name) + "(" + std::to_string(device.id) + ")";
}

}  // namespace mxnet
