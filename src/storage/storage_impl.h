// SPDX-License-Identifier: Apache-2.0
// The pools of one Storage, made at the first use of their device.
#pragma once
#include <array>
#include <atomic>
#include <memory>

#include "base/config.h"
#include "base/lock.h"
#include "storage/pool.h"
#include "storage/storage.h"

namespace mxnet {

// Thread-safe. Lock order: create_mutex_, then what pools lock.
class Storage::Impl {
 public:
  static constexpr int kMaxGpus = 64;

  Impl(const StorageConfig& config, DeviceResolver resolve);
  ~Impl();

  // Throws Error(kValue) for a device that is not there.
  Pool& pool(Device device) {
    // Acquire pairs with the release in create: a pool is seen complete.
    if (valid(device)) [[likely]] {
      Pool* pool = pools_[slot(device)].load(std::memory_order_acquire);
      if (pool != nullptr) [[likely]]
        return *pool;
    }
    return create(device);
  }
  // The pool of a device that may never have been used: null then.
  Pool* existing(Device device) const {
    return valid(device) ? pools_[slot(device)].load(std::memory_order_acquire) : nullptr;
  }

  // Fork; see storage_fork.cc.
  void lock_for_fork();
  void lock_lanes_for_fork();
  void unlock_in_parent();
  void unlock_in_child();

 private:
  static constexpr std::size_t kFirstGpu = 3;

  static bool valid(Device device) {
    return !device.is_gpu() || (device.id >= 0 && device.id < kMaxGpus);
  }
  static std::size_t slot(Device device) {
    switch (device.type) {
      case DeviceType::kCPU:
        return 0;
      case DeviceType::kCPUPinned:
        return 1;
      case DeviceType::kCPUShared:
        return 2;
      case DeviceType::kGPU:
        break;
    }
    return kFirstGpu + static_cast<std::size_t>(device.id);
  }

  Pool& create(Device device);
  Pool::Setup setup_for(Device device);
  MemoryDomain& domain_for(Device device) MX_REQUIRES(create_mutex_);
  template <class Visit>
  void for_each_pool(const Visit& visit);

  const StorageConfig config_;
  const DeviceResolver resolve_;
  Mutex create_mutex_;
  std::array<std::atomic<Pool*>, kFirstGpu + kMaxGpus> pools_{};
  // [0] is the host's, then one a GPU.
  std::array<std::unique_ptr<MemoryDomain>, 1 + kMaxGpus> domains_ MX_GUARDED_BY(create_mutex_);
};

}  // namespace mxnet
