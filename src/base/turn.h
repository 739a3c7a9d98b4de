// SPDX-License-Identifier: Apache-2.0
// Whose turn it is to use an object that threads share and that is for one of them at a time.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/process_id.h"

namespace mxnet {

// A lock that its owner may take again, of one word and two operations on it where nobody waits: a
// small record is read in less time than a mutex takes. Zeros are a free one.
//
// Whoever comes while it is free has it, before threads that are still waking up: handing each turn
// over would make threads with short calls wait for the scheduler at every one. But once in
// kPatience a turn that others wait for is promised to them, and their wait is that and the call
// under way.
class Turn {
 public:
  // Waits for it. Throws Error(kGeneric, tag) where the thread that has it is one of the process
  // that this one was forked from, and will never give it back.
  void take(const char* tag) {
    if (!take_from(kFree)) take_again_or_wait(tag);
  }
  bool take_if_free() { return take_from(kFree) || take_again(); }
  void give() {
    if (depth_ > 0) {
      --depth_;
    } else if (number_of(waiters_.load(std::memory_order_relaxed)) > 0) {
      give_to_waiters();
    } else {
      // Sequentially consistent, as a waiter's entry before its look at the owner: one of the two
      // sees the other.
      owner_.exchange(kFree, std::memory_order_seq_cst);
      if (number_of(waiters_.load(std::memory_order_seq_cst)) > 0) wake(false);
    }
  }
  // REQUIRES: it is this thread's. Whether it had it before it took it last.
  bool is_nested() const { return depth_ > 0; }
  // Whether threads wait for it.
  bool is_awaited() const;

 private:
  // pthread_self() is an address, and neither.
  static constexpr uint64_t kFree = 0, kPromised = 1;
  static constexpr int kLost = -1;  // no process

  static uint64_t self() { return static_cast<uint64_t>(::pthread_self()); }
  bool take_from(uint64_t expected) {
    // Sequentially consistent where it fails, see give(); acquire pairs with the exchange there:
    // what the last owner did to the object is seen.
    if (!owner_.compare_exchange_strong(expected, self(), std::memory_order_seq_cst)) return false;
    process_.store(process_id(), std::memory_order_relaxed);  // only compared with one's own
    return true;
  }
  bool take_again();
  void take_again_or_wait(const char* tag);
  bool take_from_parent(const char* tag);
  void give_to_waiters();
  void wake(bool promised);
  void enter();
  // Whether an owner is a thread of this process. A child has the memory of its parent, and of its
  // threads only the one that forked; a new one may have the name of one that is gone.
  bool is_of_this_process(uint64_t owner) const {
    const int process = process_.load(std::memory_order_relaxed);
    return process == process_id() ||
           (process != kLost && owner == static_cast<uint64_t>(thread_of_fork()));
  }
  static uint32_t number_of(uint64_t waiters) { return static_cast<uint32_t>(waiters); }

  std::atomic<uint64_t> owner_;  // kFree, kPromised to those who have waited, or a thread's self()
  std::atomic<uint64_t> waiters_;  // process << 32 | number: a child has none of its parent's
  uint32_t depth_;                 // of the owner; how often more than once
  // In which it was taken last while free; kLost where that was a parent, found to give it no more.
  std::atomic<int> process_;
  uint32_t promised_;            // of the owner: when it was promised last, in microseconds
  std::atomic<uint32_t> wakes_;  // of waiters, who sleep until it changes
  std::atomic<bool> waking_;     // one is on its way and has yet to look, or has had the turn
};

}  // namespace mxnet
