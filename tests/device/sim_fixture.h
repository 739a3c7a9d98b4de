// SPDX-License-Identifier: Apache-2.0
// Simulated devices for a test, and a gate that holds a stream until the test opens it.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>

#include "base/config.h"
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
    stream.api().host_call(stream.device(), stream.native(), [state = state_] {
      state->reached = true;
      state->reached.notify_all();
      state->opened.wait();
    });
  }
  // Returns when a stream stands at the gate.
  void wait_until_reached() { state_->reached.wait(false); }
  void open() {
    if (!state_->opened.try_wait()) state_->opened.count_down();
  }
  ~Gate() { open(); }

 private:
  struct State {
    std::atomic<bool> reached{false};
    std::latch opened{1};
  };
  // Shared: a waiter may still be leaving wait() when the gate is gone.
  std::shared_ptr<State> state_ = std::make_shared<State>();
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
