// SPDX-License-Identifier: Apache-2.0
// Operations that may run, in the order in which workers take them: larger priorities first, equal
// ones as they came.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/spin_lock.h"
#include "engine/operation.h"

namespace mxnet::engine {

// A heap of operations by (priority, arrival), linked through the records: nothing is allocated.
// Not thread-safe.
class PriorityHeap {
 public:
  bool empty() const { return root_ == nullptr; }
  void push(Operation* operation);
  Operation* pop();  // REQUIRES: !empty()

 private:
  static bool before(const Operation* a, const Operation* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->sequence < b->sequence;
  }
  static Operation* merge(Operation* a, Operation* b);

  Operation* root_ = nullptr;
  uint64_t arrivals_ = 0;
};

// Thread-safe: any thread pushes, any worker pops. Almost all operations have priority 0 and go
// through a ring in which pushers and poppers touch different cache lines while it holds more than
// a few. Other priorities go to two heaps, above and below the ring, and what does not fit into the
// ring to a list behind it; these share one lock and are looked at only when their counters say so.
class ReadyQueue {
 public:
  ReadyQueue();

  // The operation is published by a sequentially consistent operation (for Dock::wake_one).
  void push(Operation* operation);
  // Null if there is nothing; its loads are sequentially consistent (for Dock::announce).
  Operation* pop();
  // As pop, for a thread that takes operations that only compute: null also if the next one does
  // more, or if what comes next does not come from the ring.
  Operation* pop_computing();
  // Whether something of positive priority waits; a hint.
  bool urgent() const { return urgent_.load(std::memory_order_relaxed) != 0; }

 private:
  // 64 KiB; a pusher that is further ahead is not slowed by a list.
  static constexpr uint64_t kCells = 4096;

  // `turn` says whose the cell is: position = free for the push of that position, position + 1 =
  // filled for its pop.
  struct Cell {
    std::atomic<uint64_t> turn;
    // Read by poppers that do not get it, too. The low bit says that it only computes.
    std::atomic<uintptr_t> operation;
  };

  bool push_ring(Operation* operation);
  Operation* pop_ring(bool computing_only);
  Operation* pop_urgent();
  Operation* pop_later();

  const std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<uint64_t> push_position_{0};
  alignas(64) std::atomic<uint64_t> pop_position_{0};
  alignas(64) std::atomic<uint64_t> urgent_{0};  // operations in high_
  std::atomic<uint64_t> later_{0};               // operations in overflow_ and low_
  std::atomic<uint64_t> overflowed_{0};          // operations in overflow_
  SpinLock lock_;
  PriorityHeap high_ MX_GUARDED_BY(lock_), low_ MX_GUARDED_BY(lock_);
  OperationList overflow_ MX_GUARDED_BY(lock_);
};

}  // namespace mxnet::engine
