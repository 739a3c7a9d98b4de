// SPDX-License-Identifier: Apache-2.0
// Which lane a thread uses. A thread that ends leaves its lane, with all that is cached in it, to
// the next thread that comes; until then others may steal from it.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "storage/lane.h"

namespace mxnet {

namespace detail {

// What one thread owns: a small direct-mapped table by the set's serial number. A collision gives
// the older lane back.
struct ThreadLanes {
  static constexpr std::size_t kEntries = 16;
  struct Entry {
    uint64_t serial = 0;  // 0 = none
    Lane* lane = nullptr;
  };
  Entry entries[kEntries];
};

// A bare pointer of the initial-exec kind is read in one instruction even from a shared library,
// and 8 bytes fit the space that the loader keeps for libraries which are opened late.
extern thread_local ThreadLanes* t_lanes __attribute__((tls_model("initial-exec")));

}  // namespace detail

// Thread-safe. Lanes are destroyed with their set only; by then no other thread may use the pool.
class LaneSet {
 public:
  explicit LaneSet(TagMeters& tags);
  ~LaneSet();
  LaneSet(const LaneSet&) = delete;
  LaneSet& operator=(const LaneSet&) = delete;

  // The calling thread's lane. Does not throw once the thread has used the set.
  Lane& mine() {
    detail::ThreadLanes* lanes = detail::t_lanes;
    if (lanes != nullptr) [[likely]] {
      const auto& entry = lanes->entries[serial_ % detail::ThreadLanes::kEntries];
      if (entry.serial == serial_) [[likely]]
        return *entry.lane;
    }
    return adopt();
  }
  // The lane that needs no owner: for threads that are past their end, or that cannot get one.
  Lane& common() { return *common_; }
  // A lane that belongs to no thread, for the caller to share out.
  Lane& add();

  // Calls `visit` on every lane. Acquire pairs with the release in add: lanes are seen complete.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (Lane* lane = first_.load(std::memory_order_acquire); lane != nullptr; lane = lane->next) {
      visit(*lane);
    }
  }

  // Fork: lock_ownership() before; afterwards unlock_ownership(), in the child first with the lanes
  // of the threads that are gone set free.
  static void lock_ownership();
  static void unlock_ownership();
  void keep_only_this_thread();

 private:
  friend class ThreadEnd;
  Lane& adopt() noexcept;

  TagMeters& tags_;
  const uint64_t serial_;  // never used twice, so that a thread's stale entry matches nothing
  std::atomic<Lane*> first_{nullptr};
  std::vector<Lane*> ownerless_;  // guarded by the ownership mutex in lane_set.cc
  Lane* common_;
};

}  // namespace mxnet
