// SPDX-License-Identifier: Apache-2.0
// SEED: the device helper completes this.
#include "device/device_api.h"

namespace mxnet {
DeviceApi::~DeviceApi() = default;
}  // namespace mxnet
