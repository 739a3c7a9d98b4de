// SPDX-License-Identifier: Apache-2.0
// Where memory lies and where an operation runs. The numbers are those of the C ABI and of saved
// files.
#pragma once
#include <compare>
#include <cstdint>
#include <string>

namespace mxnet {

enum class DeviceType : int32_t { kCPU = 1, kGPU = 2, kCPUPinned = 3, kCPUShared = 5 };

// A small value; any CPU id is accepted and all of them are the one CPU (as scripts written for
// cpu(7) expect).
struct Device {
  DeviceType type = DeviceType::kCPU;
  int32_t id = 0;

  static constexpr Device cpu(int32_t id = 0) { return {DeviceType::kCPU, id}; }
  static constexpr Device gpu(int32_t id = 0) { return {DeviceType::kGPU, id}; }
  static constexpr Device cpu_pinned(int32_t id = 0) { return {DeviceType::kCPUPinned, id}; }
  static constexpr Device cpu_shared(int32_t id = 0) { return {DeviceType::kCPUShared, id}; }

  constexpr bool is_gpu() const { return type == DeviceType::kGPU; }
  auto operator<=>(const Device&) const = default;
};

std::string to_string(Device device);  // "gpu(1)"

}  // namespace mxnet
