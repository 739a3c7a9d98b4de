// SPDX-License-Identifier: Apache-2.0
// Owner of the calling thread's current device. C++17: .cu files include it.
#pragma once
#include <new>

namespace mxnet::cuda {

// Makes `device` current on this thread and puts the former state back: other libraries of the
// process rely on theirs. Guards of a thread end in the reverse order.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  // For those who give something back: where the driver is gone, at process exit, nothing happens.
  DeviceGuard(int device, std::nothrow_t) noexcept;
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  static constexpr int kNothing = -2;
  int before_ = kNothing;  // what was current here by a guard, -1 = by none
};

// The device that a guard has made current on this thread, -1 where none has.
int guarded_device() noexcept;
// The device that is current on this thread, by a guard or otherwise.
int current_device();
// A device that this process has used already, for calls that need just any; else the current one.
int any_used_device();

}  // namespace mxnet::cuda
