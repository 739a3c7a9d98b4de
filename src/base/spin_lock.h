// SPDX-License-Identifier: Apache-2.0
// A one-word lock for edits of a few pointers, where a sleeping lock would cost more than what it
// guards.
#pragma once
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "base/cpu_relax.h"
#include "base/lock.h"

namespace mxnet {

// Waits for a word to change: pauses first, then gives the core away, since the holder may have
// lost its own.
class Backoff {
 public:
  void pause() {
    if (++rounds_ < kPauses) {
      cpu_relax();
    } else {
      sched_yield();
    }
  }

 private:
  static constexpr int kPauses = 64;  // about 3 us, longer than any hold without preemption
  int rounds_ = 0;
};

// Never held while user code runs, memory is allocated or another lock is taken.
class MX_CAPABILITY("mutex") SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void lock() MX_ACQUIRE() {
    // Acquire pairs with the release in unlock: the edits of the last holder are seen.
    while (held_.exchange(true, std::memory_order_acquire)) {
      for (Backoff backoff; held_.load(std::memory_order_relaxed);) backoff.pause();  // a hint only
    }
  }
  void unlock() MX_RELEASE() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

class MX_SCOPED_CAPABILITY SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) MX_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~SpinGuard() MX_RELEASE() { lock_.unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace mxnet
