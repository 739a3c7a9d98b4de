// SPDX-License-Identifier: Apache-2.0
// A pool's cache is cut into lanes, one for each thread that uses it (host memory) or a few that
// streams are spread over (devices), so that a hit touches nothing that another thread writes.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/lock.h"
#include "base/spin_lock.h"
#include "storage/free_lists.h"
#include "storage/meter.h"
#include "storage/tag_table.h"

namespace mxnet {

// Any thread may lock any lane (to steal, flush or count): that is what lets memory hidden in one
// thread's lane serve another. In the common case only the owner does, so the lock is uncontended.
//
// Invariants:
//   1. A cached block lies in exactly one lane of its pool, or in the hands of somebody who holds
//      the domain's mutex.
//   2. Nobody waits for anything but a device's events while holding `lock`; it is the last in the
//      lock order.
struct alignas(64) Lane {
  explicit Lane(TagMeters& tag_meters) : tags(tag_meters) {}

  // A block has left to (or come back from) its user. True: the pool is to settle its meters.
  [[nodiscard]] bool count_out(Meter& meter, const char* tag, std::size_t bytes,
                               std::size_t capacity) MX_REQUIRES(lock) {
    return count(meter, tag, static_cast<int64_t>(bytes), static_cast<int64_t>(capacity));
  }
  void count_back(Meter& meter, const char* tag, std::size_t bytes, std::size_t capacity)
      MX_REQUIRES(lock) {
    count(meter, tag, -static_cast<int64_t>(bytes), -static_cast<int64_t>(capacity));
  }

  SpinLock lock;
  FreeLists free MX_GUARDED_BY(lock);
  Meter::Share in_use MX_GUARDED_BY(lock);
  TagShares tags MX_GUARDED_BY(lock);
  // May be negative: a thread may free what another allocated.
  int64_t requested MX_GUARDED_BY(lock) = 0;
  uint64_t hits MX_GUARDED_BY(lock) = 0;

  // The lanes of a pool form a list that only grows; see LaneSet.
  Lane* next = nullptr;

 private:
  bool count(Meter& meter, const char* tag, int64_t bytes, int64_t capacity) MX_REQUIRES(lock) {
    const int64_t grain = meter.grain();
    requested += bytes;
    const bool above = in_use.add(meter, capacity, grain);
    return tags.add(tag, capacity, grain) || above;
  }
};

}  // namespace mxnet
