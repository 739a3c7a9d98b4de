// SPDX-License-Identifier: Apache-2.0
// Best fit among the holes, which are joined again at release.
#include "device/sim/sim_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/error.h"

namespace mxnet {
namespace {

constexpr std::size_t kAlignment = 256;  // that of cudaMalloc
constexpr std::size_t kPage = 4096;
// Real accelerators map pages, so what is free can be allocated in one piece whatever the history.
// More addresses than bytes give the same: a hole of the right size is always there.
constexpr std::size_t kAddressesPerByte = 4;
// Below this, giving pages back costs more than it saves.
constexpr std::size_t kGiveBackFrom = std::size_t{64} << 10;

void* reserve(int device, std::size_t bytes, int protection) {
  void* range =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    throw Error(ErrorCode::kOutOfMemory, "sim",
                fmt::format("cannot reserve {} bytes of addresses for gpu({}): lower "
                            "MXNET_SIM_GPU_MEMORY_BYTES or MXNET_SIM_GPUS",
                            bytes, device));
  }
  return range;
}

std::size_t align(std::size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

}  // namespace

SimMemory::SimMemory(int device, std::size_t capacity)
    : device_(device),
      capacity_(capacity),
      range_((capacity * kAddressesPerByte + kPage - 1) & ~(kPage - 1)) {
  bytes_ = static_cast<char*>(reserve(device, range_, PROT_READ | PROT_WRITE));
  try {
    addresses_ = reinterpret_cast<std::uintptr_t>(reserve(device, range_, PROT_NONE));
  } catch (...) {
    munmap(bytes_, range_);
    throw;
  }
  MutexLock lock(mutex_);
  add_hole(0, range_);
}

SimMemory::~SimMemory() {
  munmap(reinterpret_cast<void*>(addresses_), range_);
  munmap(bytes_, range_);
}

std::size_t SimMemory::used() const {
  MutexLock lock(mutex_);
  return used_;
}

void SimMemory::add_hole(std::size_t offset, std::size_t size) {
  holes_.emplace(offset, size);
  by_size_.emplace(size, offset);
}

void SimMemory::remove_hole(std::size_t offset, std::size_t size) {
  holes_.erase(offset);
  by_size_.erase({size, offset});
}

void* SimMemory::allocate(std::size_t bytes) {
  if (bytes > capacity_) return nullptr;  // before rounding, which could overflow
  const std::size_t size = align(std::max<std::size_t>(bytes, 1));
  MutexLock lock(mutex_);
  if (size > capacity_ - used_) return nullptr;
  const auto best = by_size_.lower_bound({size, 0});
  if (best == by_size_.end()) return nullptr;
  const auto [hole, offset] = *best;
  remove_hole(offset, hole);
  if (hole > size) add_hole(offset + size, hole - size);
  live_.emplace(offset, size);
  used_ += size;
  return reinterpret_cast<void*>(address(offset));
}

bool SimMemory::release(void* data) {
  MutexLock lock(mutex_);
  const auto block = live_.find(offset_of(data));
  if (block == live_.end()) return false;
  std::size_t offset = block->first, size = block->second;
  live_.erase(block);
  used_ -= size;
  if (size >= kGiveBackFrom) {
    const std::size_t first = (offset + kPage - 1) & ~(kPage - 1);
    const std::size_t last = (offset + size) & ~(kPage - 1);
    madvise(bytes_ + first, last - first, MADV_DONTNEED);
  }
  auto after = holes_.lower_bound(offset);
  if (after != holes_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      remove_hole(before->first, before->second);
    }
  }
  if (after != holes_.end() && offset + size == after->first) {
    size += after->second;
    remove_hole(after->first, after->second);
  }
  add_hole(offset, size);
  return true;
}

bool SimMemory::contains(const void* data) const {
  return offset_of(data) < range_;  // addresses below the range wrap around to large offsets
}

char* SimMemory::translate(const void* data, std::size_t bytes) const {
  const std::size_t offset = offset_of(data);
  {
    MutexLock lock(mutex_);
    auto block = live_.upper_bound(offset);
    if (block != live_.begin()) {
      --block;
      const std::size_t end = block->first + block->second;
      if (offset < end && bytes <= end - offset) return bytes_ + offset;
    }
  }
  throw Error(ErrorCode::kValue, "sim",
              fmt::format("given {} bytes at {}, expected memory that is allocated on gpu({})",
                          bytes, data, device_));
}

}  // namespace mxnet
