// SPDX-License-Identifier: Apache-2.0
// The memory of one simulated accelerator: an address space of its own. Blocks are handed out as
// addresses in a range that nobody may touch, so that host code which dereferences a "device"
// pointer faults as it would with a real accelerator; the bytes lie in a second range of the same
// layout, which only the simulator knows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/lock.h"

namespace mxnet {

// Thread-safe.
// Invariants: 1. holes_ and live_ together tile the range without overlap; no two holes touch. 2.
// by_size_ holds the holes_ again, ordered by size. 3. used_ is the sum of the live blocks and
// never above capacity().
class SimMemory {
 public:
  // Throws Error(kOutOfMemory) when the process cannot reserve the addresses.
  SimMemory(int device, std::size_t capacity);
  ~SimMemory();
  SimMemory(const SimMemory&) = delete;
  SimMemory& operator=(const SimMemory&) = delete;

  std::size_t capacity() const { return capacity_; }
  std::size_t used() const;

  // Null when `bytes`, rounded up to the alignment, do not fit into what is left.
  void* allocate(std::size_t bytes);
  // False if `data` is not a live block.
  bool release(void* data);

  // Whether `data` is an address of this device, allocated or not.
  bool contains(const void* data) const;
  // Where the bytes of [data, data + bytes) lie. Throws Error(kValue) unless one live block
  // contains them.
  char* translate(const void* data, std::size_t bytes) const;

  // Around a fork only.
  void lock() MX_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock() MX_RELEASE(mutex_) { mutex_.unlock(); }

 private:
  std::uintptr_t address(std::size_t offset) const { return addresses_ + offset; }
  std::size_t offset_of(const void* data) const {
    return reinterpret_cast<std::uintptr_t>(data) - addresses_;
  }
  void add_hole(std::size_t offset, std::size_t size) MX_REQUIRES(mutex_);
  void remove_hole(std::size_t offset, std::size_t size) MX_REQUIRES(mutex_);

  const int device_;
  const std::size_t capacity_;
  const std::size_t range_;  // bytes of address space
  std::uintptr_t addresses_ = 0;
  char* bytes_ = nullptr;

  mutable Mutex mutex_;
  std::map<std::size_t, std::size_t> holes_ MX_GUARDED_BY(mutex_);  // offset -> size
  std::map<std::size_t, std::size_t> live_ MX_GUARDED_BY(mutex_);
  std::set<std::pair<std::size_t, std::size_t>> by_size_ MX_GUARDED_BY(mutex_);  // (size, offset)
  std::size_t used_ MX_GUARDED_BY(mutex_) = 0;
};

}  // namespace mxnet
