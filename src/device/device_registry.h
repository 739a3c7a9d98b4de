// SPDX-License-Identifier: Apache-2.0
// Which DeviceApi serves which kind of device in this process, and how a test puts another in its
// place.
#pragma once
#include "device/device_api.h"
#include "device/plugin_abi.h"

namespace mxnet {

// While it lives, device_api(type) is `api`. For tests; not nested per type. Code that fetched the
// api before keeps the one it got.
class DeviceApiOverride {
 public:
  DeviceApiOverride(DeviceType type, DeviceApi& api);
  ~DeviceApiOverride();
  DeviceApiOverride(const DeviceApiOverride&) = delete;
  DeviceApiOverride& operator=(const DeviceApiOverride&) = delete;

 private:
  DeviceType type_;
};

// Whether it lives as long as the process: not one that a test has put in place.
bool is_permanent(const DeviceApi& api) noexcept;

// The table of the loaded CUDA plug-in; null when GPUs are simulated, overridden or not there.
const PluginTable* cuda_plugin() noexcept;

}  // namespace mxnet
