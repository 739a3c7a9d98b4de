// SPDX-License-Identifier: Apache-2.0
// Which host memory the simulator has "pinned": copies from and to it are asynchronous and kernels
// may touch it, as with hardware, which looks at the address and not at what the caller says.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/lock.h"

namespace mxnet {

// Thread-safe.
class SimPinned {
 public:
  SimPinned() = default;
  ~SimPinned();
  SimPinned(const SimPinned&) = delete;
  SimPinned& operator=(const SimPinned&) = delete;

  void* allocate(std::size_t bytes);
  void release(void* data, std::size_t bytes) noexcept;
  // Whether [data, data + bytes) lies in one pinned block.
  bool contains(const void* data, std::size_t bytes) const;

  // Around a fork only.
  void lock() MX_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock() MX_RELEASE(mutex_) { mutex_.unlock(); }

 private:
  mutable Mutex mutex_;
  std::map<std::uintptr_t, std::size_t> blocks_ MX_GUARDED_BY(mutex_);  // begin -> bytes
};

}  // namespace mxnet
