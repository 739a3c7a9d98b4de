// SPDX-License-Identifier: Apache-2.0
// The bounds on the memory that pushed, unfinished operations hold: a producer that is too far
// ahead sleeps.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "engine/interrupt.h"
#include "engine/waiting.h"

namespace mxnet::engine {

// So many operations are in flight before a producer waits until others end: their records take
// some 40 MB, and nothing would run sooner for more of them. A thread looks once in a few hundred
// pushes, and goes on when nothing ends, so this is what a program is close to, not a limit.
inline constexpr uint64_t kMostAhead = 32768;

// Thread-safe. An operation larger than the limit is let in when nothing else is: it runs alone.
// What is taken without waiting (from inside an operation, where waiting could never end) may pass
// the limit.
class RunAhead {
 public:
  explicit RunAhead(int64_t limit)
      : limit_(limit <= 0 ? UINT64_MAX : static_cast<uint64_t>(limit)) {}

  bool try_take(uint64_t bytes) {
    uint64_t held = held_.load(std::memory_order_seq_cst);  // the waiter's half of Bell's handshake
    while (held == 0 || (bytes <= limit_ && held <= limit_ - bytes)) {
      // Relaxed: a count, it carries no data.
      if (held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void take_unbounded(uint64_t bytes) { held_.fetch_add(bytes, std::memory_order_relaxed); }
  // Sleeps until there is room. Throws where the program ends the wait: nothing is taken.
  void take(uint64_t bytes) {
    const InterruptCheck leave = interrupt_check();
    const auto taken = [&] { return try_take(bytes); };
    while (!room_.wait_until(std::chrono::steady_clock::now() + kInterruptSlice, taken))
      if (leave != nullptr && leave() != 0) throw_interrupted();
  }
  void give(uint64_t bytes) {
    held_.fetch_sub(bytes, std::memory_order_seq_cst);  // the changer's half of Bell's handshake
    room_.ring();
  }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> held_{0};
  Bell room_;
};

}  // namespace mxnet::engine
