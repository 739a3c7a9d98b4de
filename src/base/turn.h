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
class Turn {
 public:
  // Waits for it. Throws Error(kGeneric, tag) where the thread that has it is one of the process
  // that this one was forked from, and will never give it back.
  void take(const char* tag) {
    if (!take_if_free()) wait(tag);
  }
  bool take_if_free() {
    const auto self = static_cast<uint64_t>(::pthread_self());
    uint64_t owner = 0;
    // Acquire pairs with give's release: what the last owner did to the object is seen.
    if (!owner_.compare_exchange_strong(owner, self, std::memory_order_acquire)) {
      if (owner != self || !is_of_this_process(owner)) return false;
      ++depth_;
      return true;
    }
    process_.store(process_id(), std::memory_order_relaxed);  // only compared with one's own
    return true;
  }
  void give() {
    if (depth_ > 0) {
      --depth_;
      return;
    }
    // Sequentially consistent, as the waiter's count before its look at the owner: one of the two
    // sees the other.
    owner_.exchange(0, std::memory_order_seq_cst);
    if (waiters_.load(std::memory_order_seq_cst) > 0) owner_.notify_one();
  }
  // REQUIRES: it is this thread's. Whether it had it before it took it last.
  bool is_nested() const { return depth_ > 0; }

 private:
  void wait(const char* tag);
  // Whether an owner is a thread of this process. A child has the memory of its parent, and of its
  // threads only the one that forked; a new one may have the name of one that is gone.
  bool is_of_this_process(uint64_t owner) const {
    return process_.load(std::memory_order_relaxed) == process_id() ||
           owner == static_cast<uint64_t>(thread_of_fork());
  }

  std::atomic<uint64_t> owner_;  // pthread_self(), which is never 0; 0 = nobody
  uint32_t depth_;               // of the owner; how often more than once
  std::atomic<uint32_t> waiters_;
  std::atomic<int> process_;  // in which it was taken last while free
};

}  // namespace mxnet
