// SPDX-License-Identifier: Apache-2.0
// Owner of the calling thread's current device. C++17: .cu files include it.
#pragma once

namespace mxnet::cuda {

// Makes `device` current on this thread and puts the former one back: other libraries of the
// process rely on theirs.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = -1;  // -1 = nothing to put back
};

}  // namespace mxnet::cuda
