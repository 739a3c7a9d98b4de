// SPDX-License-Identifier: Apache-2.0
// Things that nobody uses at the moment, by the thread that gave them: it finds its own again, with
// no lock.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ref.h"

namespace mxnet {

// Of the calling thread; from 1. One that begins takes over the number of one that has ended, and
// so what that one gave: a program may have a thread for each of its requests.
uint32_t thread_number();

// Thread-safe. One thing for each of many threads; more of them share places.
template <class T>
class ThreadSlots {
 public:
  ThreadSlots() = default;
  ~ThreadSlots() { clear(); }
  ThreadSlots(const ThreadSlots&) = delete;
  ThreadSlots& operator=(const ThreadSlots&) = delete;

  // What this thread gave last; null if there is nothing.
  Ref<T> take() { return take_from(mine()); }
  // What lies there already came from a call in between; it goes.
  void give(Ref<T> thing) {
    // Release: see take_from.
    T* const old = mine().exchange(thing.release(), std::memory_order_acq_rel);
    if (old != nullptr && old->drop_ref()) delete old;
  }
  // Of all threads.
  void clear() {
    for (std::atomic<T*>& slot : slots_) {
      // Relaxed: spares the exchange.
      if (slot.load(std::memory_order_relaxed) != nullptr) take_from(slot);
    }
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(slots_, [](const auto& slot) {
      return slot.load(std::memory_order_relaxed) != nullptr;  // only counted
    }));
  }

 private:
  static constexpr std::size_t kSlots = 64;
  std::atomic<T*>& mine() { return slots_[thread_number() % kSlots]; }
  static Ref<T> take_from(std::atomic<T*>& slot) {
    // Acquire: what the giver did to it is seen.
    T* const kept = slot.exchange(nullptr, std::memory_order_acquire);
    Ref<T> thing(kept);
    if (kept != nullptr) kept->drop_ref();  // the slot's; ours keeps it alive
    return thing;
  }

  std::array<std::atomic<T*>, kSlots> slots_{};  // each owns a reference
};

}  // namespace mxnet
