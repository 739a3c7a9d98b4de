// SPDX-License-Identifier: Apache-2.0
// Whole pages from the host, remembered by their address.
#include "device/sim/sim_pinned.h"

#include "device/cpu/host_memory.h"

namespace mxnet {

SimPinned::~SimPinned() {
  for (const auto& [begin, bytes] : blocks_) {
    host_release_pages(reinterpret_cast<void*>(begin), bytes);
  }
}

void* SimPinned::allocate(std::size_t bytes) {
  void* data = host_allocate_pages(bytes);
  if (data == nullptr) return nullptr;
  MutexLock lock(mutex_);
  blocks_[reinterpret_cast<std::uintptr_t>(data)] = bytes;
  return data;
}

void SimPinned::release(void* data, std::size_t bytes) noexcept {
  {
    MutexLock lock(mutex_);
    blocks_.erase(reinterpret_cast<std::uintptr_t>(data));
  }
  host_release_pages(data, bytes);
}

bool SimPinned::contains(const void* data, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  MutexLock lock(mutex_);
  auto block = blocks_.upper_bound(begin);
  if (block == blocks_.begin()) return false;
  --block;
  const std::uintptr_t end = block->first + block->second;
  return begin <= end && bytes <= end - begin;
}

}  // namespace mxnet
