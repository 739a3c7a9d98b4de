// SPDX-License-Identifier: Apache-2.0
// What this process knows about its shared segments: which descriptors are its own, and since which
// fork it alone can see what it makes.
#pragma once
#include <atomic>
#include <cstdint>
#include <unordered_set>

#include "base/spin_lock.h"

namespace mxnet {

// Thread-safe. One a process, inherited by its forked children together with the descriptors.
class SegmentRegistry {
 public:
  static SegmentRegistry& get();

  void add(int fd);
  void remove(int fd) noexcept;
  bool contains(int fd) const;

  // Advances with each fork, in the parent and the child: a segment made in an earlier epoch may be
  // mapped by both. Relaxed: it changes in the only thread that a fork handler leaves running among
  // those that hold the lock.
  uint64_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

  void lock_for_fork() MX_ACQUIRE(lock_) {
    lock_.lock();
    epoch_.fetch_add(1, std::memory_order_relaxed);
  }
  void unlock_for_fork() MX_RELEASE(lock_) { lock_.unlock(); }

 private:
  mutable SpinLock lock_;
  std::unordered_set<int> fds_ MX_GUARDED_BY(lock_);
  std::atomic<uint64_t> epoch_{0};
};

}  // namespace mxnet
