// SPDX-License-Identifier: Apache-2.0
// Pools that share one physical memory: cpu, pinned and shared blocks all come out of host memory,
// so a request to one of them may be served only after the others have given up what they cached.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/lock.h"
#include "device/device_api.h"

namespace mxnet {

class Pool;

// Thread-safe. `mutex` serialises everything that is not a hit: moving cached blocks between lanes,
// getting raw memory and giving it back. So while it is held no cached block is hidden in
// somebody's hands, and a flush finds them all. Lock order: mutex, then the lanes' locks.
class MemoryDomain {
 public:
  MemoryDomain(DeviceApi& api, int device) : api_(api), device_(device) {}

  void join(Pool* pool);  // at the pool's birth, for good

  // Makes sure, where cached blocks allow it, that taking `bytes` leaves `percent` of the memory
  // free.
  void keep_reserve(std::size_t bytes, int percent) MX_REQUIRES(mutex);
  // Gives back the oldest cached blocks of all pools until `bytes` are free or none is left;
  // returns the bytes given.
  std::size_t release_oldest(std::size_t bytes) MX_REQUIRES(mutex);
  // Gives back every cached block of every pool.
  std::size_t flush() MX_REQUIRES(mutex);

  // Dates cached blocks: it advances with each request that is no hit. Relaxed: order among blocks
  // only decides which goes first.
  uint64_t now() const { return clock_.load(std::memory_order_relaxed); }
  void tick() { clock_.fetch_add(1, std::memory_order_relaxed); }

  MemoryInfo info() { return api_.memory_info(device_); }
  std::string table();  // of all pools, with the device's own figures

  Mutex mutex;

 private:
  // What the device said last and how much has been taken since.
  struct Reading {
    MemoryInfo info;
    std::size_t taken_since = 0;
    bool any = false;

    std::size_t reserve(int percent) const;
    bool serves(std::size_t bytes, int percent) const;
    std::size_t short_by(std::size_t bytes, int percent) const;
  };
  void read() MX_REQUIRES(mutex) { reading_ = {info(), 0, true}; }

  DeviceApi& api_;
  const int device_;
  std::vector<Pool*> pools_ MX_GUARDED_BY(mutex);
  Reading reading_ MX_GUARDED_BY(mutex);
  alignas(64) std::atomic<uint64_t> clock_{0};
};

}  // namespace mxnet
