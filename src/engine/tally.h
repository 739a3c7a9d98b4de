// SPDX-License-Identifier: Apache-2.0
// How many operations are in flight, counted so that the pushing and the finishing threads share no
// cache line.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

namespace mxnet::engine {

// Thread-safe. A thread counts in the slot of its number; more threads than slots share slots, at
// some cost.
//
// Each operation belongs to the era in which it started, one of two. Who waits for all turns the
// era and waits for the old one to empty: later pushes do not prolong the wait. A push may read the
// era just before a turn and count after it, so a waiter does that twice, once for either era; what
// was counted before its call is then done. What an operation pushes joins its era: a wait includes
// it.
//
// Sequentially consistent throughout: the counts are one side of the handshakes with the gate
// (start, then look at the gate) and with Bell (finish, then look for a waiter).
class Tally {
 public:
  bool era() const {
    return era_.load(std::memory_order_relaxed);
  }  // a stale one is as good, see above
  void start(uint32_t thread, bool era) {
    slot(thread).started[era].fetch_add(1, std::memory_order_seq_cst);
  }
  void finish(uint32_t thread, bool era) {
    slot(thread).finished[era].fetch_add(1, std::memory_order_seq_cst);
  }

  // Ends the current era and returns it. One caller at a time.
  bool turn() {
    const bool old = era_.load(std::memory_order_seq_cst);
    era_.store(!old, std::memory_order_seq_cst);
    return old;
  }

  uint64_t finished() const { return sum(&Slot::finished, 0) + sum(&Slot::finished, 1); }

  // Roughly how many are in flight.
  uint64_t in_flight() const {
    const uint64_t done = finished();
    return sum(&Slot::started, 0) + sum(&Slot::started, 1) - done;
  }

  // True only if at some moment during the call nothing of that era was in flight. Both counts only
  // grow, so with `finished` summed first, up to moment t, and `started` from t on: finished <=
  // finished(t) <= started(t) <= started, and equal ends make all of them equal.
  bool idle(bool era) const {
    const uint64_t done = sum(&Slot::finished, era);
    return done == sum(&Slot::started, era);
  }
  // The same for both eras together.
  bool idle() const {
    const uint64_t done = finished();
    return done == sum(&Slot::started, 0) + sum(&Slot::started, 1);
  }

 private:
  static constexpr uint32_t kSlots = 16;  // more than the threads that usually push
  using Count = std::array<std::atomic<uint64_t>, 2>;
  struct alignas(64) Slot {
    Count started{}, finished{};
  };

  Slot& slot(uint32_t thread) { return slots_[thread % kSlots]; }
  uint64_t sum(Count Slot::*count, std::size_t era) const {
    uint64_t total = 0;
    for (const Slot& slot : slots_) total += (slot.*count)[era].load(std::memory_order_seq_cst);
    return total;
  }

  std::array<Slot, kSlots> slots_;
  alignas(64) std::atomic<bool> era_{false};
};

}  // namespace mxnet::engine
