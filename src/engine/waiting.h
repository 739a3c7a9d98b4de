// SPDX-License-Identifier: Apache-2.0
// Three ways to sleep until something happens: OneShot (one event, one waiter), Bell (a condition
// that others change), Dock (workers out of work). Each costs whoever causes the event one load
// when nobody sleeps.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "engine/futex.h"

namespace mxnet::engine {

// One event for one waiter, on the waiter's stack, or on the heap if the waiter may leave. Any
// thread rings, once; only the owner waits.
class OneShot {
 public:
  void ring() {
    // Release: what was done before the event is seen by the waiter. Acquire: who left has done so.
    const uint32_t before = state_.exchange(kRung, std::memory_order_acq_rel);
    // A waiter that slept may already be gone here: the wake names an address only, and a wake too
    // many harms nobody.
    if (before == kAsleep) futex_wake_one(state_);
    if (before == kAbandoned) delete this;
  }
  void wait();
  // Acquire pairs with the release in ring.
  bool rung() const { return state_.load(std::memory_order_acquire) == kRung; }
  // REQUIRES: on the heap. False if `leave` said so before the event: the ringer deletes it then.
  bool wait_unless(int (*leave)());
  // REQUIRES: on the heap. For a waiter that has not slept: true if the ringer deletes it, false
  // if it was rung before.
  bool abandon();

 private:
  enum : uint32_t { kQuiet, kAsleep, kRung, kAbandoned };
  // True if it was rung, now or soon enough to stay awake for; else the waiter is on record.
  bool rung_before_sleep();
  std::atomic<uint32_t> state_{kQuiet};
};

// A condition elsewhere that many threads may wait for. The changer first changes it, with a
// sequentially consistent operation, then calls ring(); the waiter announces itself, then tests the
// condition, with a sequentially consistent load. In the one total order of these four either the
// waiter sees the change or the changer sees the waiter.
class Bell {
 public:
  void ring() {
    if (sleepers_.load(std::memory_order_seq_cst) != 0) ring_slowly();
  }
  bool awaited() const { return sleepers_.load(std::memory_order_seq_cst) != 0; }

  // Returns true once `condition()` holds, false when `deadline` passed before.
  template <class Condition>
  bool wait_until(std::chrono::steady_clock::time_point deadline, Condition condition) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    bool holds = false;
    for (;;) {
      // Acquire: a ring after this load changes the word, so the sleep below returns at once.
      const uint32_t epoch = epoch_.load(std::memory_order_acquire);
      holds = condition();
      if (holds || !sleep(epoch, deadline)) break;
    }
    // Relaxed: a count too high for a moment costs a ring that wakes nobody.
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    return holds;
  }
  template <class Condition>
  void wait(Condition condition) {
    wait_until(std::chrono::steady_clock::time_point::max(), condition);
  }

 private:
  void ring_slowly();
  bool sleep(uint32_t epoch, std::chrono::steady_clock::time_point deadline);

  std::atomic<uint32_t> epoch_{0};
  std::atomic<uint32_t> sleepers_{0};
};

// Where idle workers sleep. Whoever wakes one takes it off the count at once, so that a burst of
// work wakes each sleeper with one system call and not with one per piece of work while it is still
// getting up.
//
// Invariant: each sleeper leaves either by taking itself off the count (cancel) or by taking a
// token; each decrement by wake_one is followed by exactly one token.
class Dock {
 public:
  // REQUIRES: the work was published by a sequentially consistent operation (see Bell for the
  // argument).
  void wake_one() {
    if (sleepers_.load(std::memory_order_seq_cst) != 0) wake_slowly();
  }
  // A worker: announce, look for work once more with sequentially consistent loads, then sleep or
  // cancel.
  void announce() { sleepers_.fetch_add(1, std::memory_order_seq_cst); }
  void cancel();
  void sleep();

 private:
  bool take_sleeper();
  bool take_token();
  void wake_slowly();

  alignas(64) std::atomic<uint32_t> sleepers_{0};
  alignas(64) std::atomic<uint32_t> tokens_{0};
};

}  // namespace mxnet::engine
