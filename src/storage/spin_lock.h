// SPDX-License-Identifier: Apache-2.0
// A lock of one byte for sections of a few dozen instructions that one thread enters nearly alone:
// it costs one exchange, a third of std::mutex. Whoever does meet somebody inside yields instead of
// burning the core.
#pragma once
#include <atomic>
#include <thread>

#include "base/lock.h"

namespace mxnet {

class MX_CAPABILITY("mutex") SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void lock() MX_ACQUIRE() {
    // Acquire pairs with unlock's release: the section sees what earlier ones wrote.
    while (held_.exchange(true, std::memory_order_acquire)) [[unlikely]] wait();
  }
  // A plain store on x86: release publishes the section.
  void unlock() MX_RELEASE() { held_.store(false, std::memory_order_release); }

 private:
  void wait() const {
    constexpr int kSpins = 64;  // about as long as one section takes
    // Relaxed: only a hint to try again; the exchange orders.
    for (int spin = 0; held_.load(std::memory_order_relaxed); ++spin) {
      if (spin < kSpins) {
        __builtin_ia32_pause();
      } else {
        std::this_thread::yield();
      }
    }
  }

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
