// SPDX-License-Identifier: Apache-2.0
// The promises of DeviceApi on the host, on the simulator, and through the wrapper that tests use.
#include "contract.h"
#include "base/config.h"
#include "device/cpu/cpu_device_api.h"
#include "device/sim/sim_device_api.h"
#include "faulty_device_api.h"

namespace mxnet::testing {
namespace {

DeviceApi* cpu() {
  static CpuDeviceApi api;
  return &api;
}

DeviceApi* sim() {
  static SimDeviceApi* api = [] {
    DeviceConfig config;
    config.sim_gpus = 2;
    config.sim_memory_bytes = 64 << 20;
    return new SimDeviceApi(config);
  }();
  return api;
}

DeviceApi* wrapped_sim() {
  static FaultyDeviceApi api(*sim());
  return &api;
}

INSTANTIATE_TEST_SUITE_P(Apis, DeviceContract,
                         ::testing::Values(ApiUnderTest{"cpu", DeviceType::kCPU, cpu},
                                           ApiUnderTest{"sim", DeviceType::kGPU, sim},
                                           ApiUnderTest{"wrapped", DeviceType::kGPU, wrapped_sim}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace mxnet::testing

// Sanitizers abort on impossible allocations unless told to return null, as malloc does.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
