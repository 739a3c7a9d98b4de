// SPDX-License-Identifier: Apache-2.0
// Asks libmxnet.so for a GPU, as any program would, and prints what it got: run by
// device_choice_test.cc with different libraries in reach and different variables set.
#include <cstdio>

#include "base/error.h"
#include "device/device_api.h"

int main() {
  for (int i = 0; i < 2; ++i) {  // the second answer must be the first one
    try {
      mxnet::DeviceApi& api = mxnet::device_api(mxnet::DeviceType::kGPU);
      std::printf("api %s devices %d memory %zu\n", api.name(), api.device_count(),
                  api.memory_info(0).total);
    } catch (const mxnet::Error& e) {
      std::printf("error %s\n", e.what());
    }
  }
  std::printf("host %s\n", mxnet::device_api(mxnet::DeviceType::kCPUPinned).name());
}
