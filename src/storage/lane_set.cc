// SPDX-License-Identifier: Apache-2.0
// See lane_set.h. Ownership changes hands rarely (a thread's first use of a pool, its end), so one
// mutex of the process guards all of it.
#include "storage/lane_set.h"

#include <algorithm>
#include <new>
#include <unordered_map>

#include "base/leaked.h"

namespace mxnet {
namespace detail {

constinit thread_local ThreadLanes* t_lanes = nullptr;

}  // namespace detail

using detail::t_lanes;
using detail::ThreadLanes;

namespace {

struct Ownership {
  Mutex mutex;
  uint64_t last_serial MX_GUARDED_BY(mutex) = 0;
  std::unordered_map<uint64_t, LaneSet*> sets MX_GUARDED_BY(mutex);  // the living ones
};

// Leaked: threads end after static destruction.
Ownership& ownership() {
  static Leaked<Ownership> ownership;
  return *ownership;
}

// Matches no set: what a thread points to once its end has begun.
constinit ThreadLanes g_ended;

}  // namespace

// Gives a thread's lanes back at its end. Destructors of other thread-local objects may still
// allocate afterwards: they find g_ended and use the common lane.
class ThreadEnd {
 public:
  ~ThreadEnd() {
    ThreadLanes* lanes = t_lanes;
    t_lanes = &g_ended;
    if (lanes == nullptr || lanes == &g_ended) return;
    MutexLock lock(ownership().mutex);
    for (const ThreadLanes::Entry& entry : lanes->entries) give_back(entry);
    delete lanes;
  }
  static void give_back(const ThreadLanes::Entry& entry) MX_REQUIRES(ownership().mutex) {
    if (entry.serial == 0) return;
    const auto set = ownership().sets.find(entry.serial);
    if (set == ownership().sets.end()) return;
    set->second->ownerless_.push_back(entry.lane);  // reserved in add
  }
  void arm() {}  // odr-use: constructs the thread's object, which registers its destructor
};

namespace {
thread_local ThreadEnd t_end;
}  // namespace

LaneSet::LaneSet(TagMeters& tags)
    : tags_(tags),
      serial_([this] {
        MutexLock lock(ownership().mutex);
        const uint64_t serial = ++ownership().last_serial;
        ownership().sets.emplace(serial, this);
        return serial;
      }()),
      common_(&add()) {}

LaneSet::~LaneSet() {
  {
    MutexLock lock(ownership().mutex);
    ownership().sets.erase(serial_);
  }
  for (Lane* lane = first_.load(std::memory_order_acquire); lane != nullptr;) {
    Lane* next = lane->next;
    delete lane;
    lane = next;
  }
}

Lane& LaneSet::add() {
  auto lane = std::make_unique<Lane>(tags_);
  MutexLock lock(ownership().mutex);
  std::size_t lanes = 1;
  for_each([&](Lane&) { ++lanes; });
  ownerless_.reserve(lanes);                            // so that giving back cannot fail
  lane->next = first_.load(std::memory_order_relaxed);  // relaxed: only written under the mutex
  // Release publishes the lane and its `next` to for_each.
  first_.store(lane.get(), std::memory_order_release);
  return *lane.release();
}

Lane& LaneSet::adopt() noexcept try {
  if (t_lanes == &g_ended) return common();
  if (t_lanes == nullptr) {
    t_lanes = new ThreadLanes();
    t_end.arm();
  }
  Lane* lane = nullptr;
  {
    MutexLock lock(ownership().mutex);
    if (!ownerless_.empty()) {
      lane = ownerless_.back();
      ownerless_.pop_back();
    }
  }
  if (lane == nullptr) lane = &add();
  ThreadLanes::Entry& entry = t_lanes->entries[serial_ % ThreadLanes::kEntries];
  MutexLock lock(ownership().mutex);
  ThreadEnd::give_back(std::exchange(entry, {serial_, lane}));
  return *lane;
} catch (const std::bad_alloc&) {
  return common();
}

void LaneSet::lock_ownership() MX_NO_THREAD_SAFETY_ANALYSIS { ownership().mutex.lock(); }
void LaneSet::unlock_ownership() MX_NO_THREAD_SAFETY_ANALYSIS { ownership().mutex.unlock(); }

// REQUIRES: lock_ownership().
void LaneSet::keep_only_this_thread() {
  const Lane* own = nullptr;
  if (t_lanes != nullptr) {
    const auto& entry = t_lanes->entries[serial_ % ThreadLanes::kEntries];
    if (entry.serial == serial_) own = entry.lane;
  }
  ownerless_.clear();
  for_each([&](Lane& lane) {
    if (&lane != own && &lane != common_) ownerless_.push_back(&lane);
  });
}

}  // namespace mxnet
