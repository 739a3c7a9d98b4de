// SPDX-License-Identifier: Apache-2.0
// Whole pages from the host, remembered by their address.
#include "device/sim/sim_pinned.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "device/cpu/host_memory.h"

namespace mxnet {

SimPinned::~SimPinned() {
  for (const auto& [begin, bytes] : blocks_) {
    host_release_pages(reinterpret_cast<void*>(begin), bytes);
  }
}

void* SimPinned::allocate(std::size_t bytes) {
  release_done();
  void* data = host_allocate_pages(bytes);
  if (data == nullptr) return nullptr;
  MutexLock lock(mutex_);
  blocks_[reinterpret_cast<std::uintptr_t>(data)] = bytes;
  return data;
}

void SimPinned::release_after(std::vector<SimMark> marks, void* data, std::size_t bytes) noexcept {
  {
    MutexLock lock(mutex_);
    leaving_.push_back({std::move(marks), data, bytes});
  }
  release_done();
}

void SimPinned::release_done() noexcept {
  std::vector<Leaving> done;
  {
    MutexLock lock(mutex_);
    const auto first = std::partition(leaving_.begin(), leaving_.end(), [](const Leaving& block) {
      return !std::all_of(block.marks.begin(), block.marks.end(),
                          [](const SimMark& mark) { return mark.reached(); });
    });
    std::move(first, leaving_.end(), std::back_inserter(done));
    leaving_.erase(first, leaving_.end());
    for (const Leaving& block : done) blocks_.erase(reinterpret_cast<std::uintptr_t>(block.data));
  }
  for (const Leaving& block : done) host_release_pages(block.data, block.bytes);
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
