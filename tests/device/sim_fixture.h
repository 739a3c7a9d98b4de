// SPDX-License-Identifier: Apache-2.0
// Simulated devices for a test, and a gate that holds a stream until the test opens it.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <latch>
#include <memory>

#include "device/sim/sim_device_api.h"
#include "device/stream.h"

namespace mxnet::testing {

inline DeviceConfig sim_config(int devices, int64_t bytes = 16 << 20) {
  DeviceConfig config;
  config.sim_gpus = devices;
  config.sim_memory_bytes = bytes;
  return config;
}

// Work put on `stream` after close() waits for open().
class Gate {
 public:
  void close(Stream& stream) {
    stream.api().host_call(stream.device(), stream.native(), [latch = latch_] { latch->wait(); });
  }
  void open() {
    if (!latch_->try_wait()) latch_->count_down();
  }
  ~Gate() { open(); }

 private:
  // Shared: a waiter may still be leaving wait() when the gate is gone.
  std::shared_ptr<std::latch> latch_ = std::make_shared<std::latch>(1);
};

// Device memory that is given back at the end; copies through whichever stream a test names.
class SimBlock {
 public:
  SimBlock(SimDeviceApi& api, int device, std::size_t bytes)
      : api_(api), device_(device), bytes_(bytes), data_(api.allocate(device, bytes)) {}
  ~SimBlock() { api_.release(device_, data_, bytes_); }
  SimBlock(const SimBlock&) = delete;
  SimBlock& operator=(const SimBlock&) = delete;

  void* data() const { return data_; }
  Device device() const { return Device::gpu(device_); }

 private:
  SimDeviceApi& api_;
  int device_;
  std::size_t bytes_;
  void* data_;
};

}  // namespace mxnet::testing
