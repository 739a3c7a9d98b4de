// SPDX-License-Identifier: Apache-2.0
// What a test can do to simulated accelerators: make allocations and copies fail, slow copies down,
// cut links between devices, and count what was done.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/lock.h"
#include "device/device_api.h"

namespace mxnet {

struct SimStats {
  uint64_t allocations = 0, failed_allocations = 0, releases = 0;
  uint64_t host_to_device = 0, device_to_host = 0, within_device = 0;  // copies
  uint64_t peer = 0;    // copies to this device over a link
  uint64_t staged = 0;  // copies to this device from one without a link, through the host
  uint64_t copied_bytes = 0;
  uint64_t host_calls = 0;
  uint64_t graph_launches = 0;
  uint64_t collectives = 0;  // that the device took part in
};

// Thread-safe; may be used while the devices are.
class SimControl {
 public:
  // `links`: weights as DeviceLinks gives them.
  SimControl(int devices, std::vector<double> links);

  // The nth allocation on `device` from now (1 = the next one) gives null. Once; a later call
  // replaces it.
  void fail_allocation(int device, int64_t nth = 1);
  // The nth copy on a stream of `device` from now moves nothing and fails: Error(kGeneric) with
  // `reason` at the stream's next synchronize. Once; a later call replaces it.
  void fail_copy(int device, int64_t nth = 1, std::string reason = "injected failure of a copy");
  // Every copy on a stream of `device` takes that much longer.
  void set_copy_delay(int device, std::chrono::microseconds delay);
  // Whether the two devices reach each other's memory, in both directions.
  void set_link(int a, int b, bool on);
  // The same with how much it carries, in any unit: 0 = none.
  void set_link_weight(int a, int b, double weight);
  double link_weight(int a, int b) const;
  std::vector<double> link_weights() const;
  SimStats stats(int device) const;

  // Around a fork only.
  void lock() MX_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock() MX_RELEASE(mutex_) { mutex_.unlock(); }

 private:
  friend class SimDeviceApi;
  struct State {
    int64_t allocations_until_failure = 0;  // 0 = none is to fail
    int64_t copies_until_failure = 0;
    std::string reason;
    std::chrono::microseconds delay{0};
    SimStats stats;
  };
  struct CopyPlan {
    std::optional<std::string> failure;
    std::chrono::microseconds delay{0};
  };

  int devices() const { return devices_; }
  bool next_allocation_fails(int device);
  CopyPlan next_copy(int device);
  bool linked(int a, int b) const { return a == b || link_weight(a, b) > 0; }
  void count(int device, uint64_t SimStats::*counter, uint64_t by = 1);

  const int devices_;
  mutable Mutex mutex_;
  std::vector<State> states_ MX_GUARDED_BY(mutex_);
  std::vector<double> links_ MX_GUARDED_BY(mutex_);  // weights, [a * devices_ + b], symmetric
};

// The control of `api` if it is the simulator, else null.
SimControl* sim_control(DeviceApi& api);

}  // namespace mxnet
