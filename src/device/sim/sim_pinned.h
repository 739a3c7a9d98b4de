// SPDX-License-Identifier: Apache-2.0
// Which host memory the simulator has "pinned": copies from and to it are asynchronous and kernels
// may touch it, as with hardware, which looks at the address and not at what the caller says.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/lock.h"
#include "device/sim/sim_stream.h"

namespace mxnet {

// Thread-safe.
class SimPinned {
 public:
  SimPinned() = default;
  ~SimPinned();
  SimPinned(const SimPinned&) = delete;
  SimPinned& operator=(const SimPinned&) = delete;

  void* allocate(std::size_t bytes);
  // Once the work before all of these points is done.
  void release_after(std::vector<SimMark> marks, void* data, std::size_t bytes) noexcept;
  // Whether [data, data + bytes) lies in one pinned block.
  bool contains(const void* data, std::size_t bytes) const;

  // Around a fork only.
  void lock() MX_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock() MX_RELEASE(mutex_) { mutex_.unlock(); }

 private:
  struct Leaving {
    std::vector<SimMark> marks;
    void* data;
    std::size_t bytes;
  };
  // Gives back what no work needs any more.
  void release_done() noexcept;

  mutable Mutex mutex_;
  std::map<std::uintptr_t, std::size_t> blocks_ MX_GUARDED_BY(mutex_);  // begin -> bytes
  std::vector<Leaving> leaving_ MX_GUARDED_BY(mutex_);                  // among them
};

}  // namespace mxnet
