// SPDX-License-Identifier: Apache-2.0
// The ring (a bounded queue with a turn counter in each cell), the pairing heaps and the overflow
// list.
#include "engine/ready_queue.h"

namespace mxnet::engine {

// Children of a record are a list through pool_next, starting at `child`.
Operation* PriorityHeap::merge(Operation* a, Operation* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  if (before(b, a)) std::swap(a, b);
  b->pool_next = a->child;
  a->child = b;
  return a;
}

void PriorityHeap::push(Operation* operation) {
  operation->sequence = arrivals_++;
  operation->child = nullptr;
  operation->pool_next = nullptr;
  root_ = merge(root_, operation);
}

Operation* PriorityHeap::pop() {
  Operation* top = root_;
  // Merge the children in pairs, then the pairs from the last to the first: amortised O(log n).
  Operation* pairs = nullptr;
  for (Operation* first = top->child; first != nullptr;) {
    Operation* second = first->pool_next;
    Operation* rest = second != nullptr ? second->pool_next : nullptr;
    first->pool_next = nullptr;
    if (second != nullptr) second->pool_next = nullptr;
    Operation* pair = merge(first, second);
    pair->pool_next = pairs;
    pairs = pair;
    first = rest;
  }
  root_ = nullptr;
  while (pairs != nullptr) {
    Operation* next = pairs->pool_next;
    pairs->pool_next = nullptr;
    root_ = merge(root_, pairs);
    pairs = next;
  }
  return top;
}

ReadyQueue::ReadyQueue() : cells_(new Cell[kCells]) {
  // Relaxed: nobody else knows the queue yet.
  for (uint64_t i = 0; i < kCells; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
}

void ReadyQueue::push(Operation* operation) {
  if (operation->priority == 0) {
    // Relaxed: whether the list is used first or a moment later changes only the order among
    // unrelated operations.
    if (overflowed_.load(std::memory_order_relaxed) == 0 && push_ring(operation)) return;
    SpinGuard guard(lock_);
    overflow_.push(operation);
    overflowed_.fetch_add(1, std::memory_order_relaxed);
    later_.fetch_add(1, std::memory_order_seq_cst);
    return;
  }
  SpinGuard guard(lock_);
  (operation->priority > 0 ? high_ : low_).push(operation);
  (operation->priority > 0 ? urgent_ : later_).fetch_add(1, std::memory_order_seq_cst);
}

bool ReadyQueue::push_ring(Operation* operation) {
  // Relaxed positions: they only hand out cells; the turn of the cell carries the data.
  uint64_t position = push_position_.load(std::memory_order_relaxed);
  for (;;) {
    Cell& cell = cells_[position % kCells];
    // Acquire: the pop that freed the cell has read it.
    const uint64_t turn = cell.turn.load(std::memory_order_acquire);
    if (turn == position) {
      if (push_position_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
        // Relaxed: the turn publishes it.
        cell.operation.store(
            reinterpret_cast<uintptr_t>(operation) | uintptr_t{operation->computes},
            std::memory_order_relaxed);
        cell.turn.store(position + 1, std::memory_order_seq_cst);  // see push
        return true;
      }
    } else if (turn < position) {
      return false;  // still filled from a round ago: full
    } else {
      position = push_position_.load(std::memory_order_relaxed);
    }
  }
}

Operation* ReadyQueue::pop_ring(bool computing_only) {
  uint64_t position = pop_position_.load(std::memory_order_relaxed);  // see push_ring
  for (;;) {
    Cell& cell = cells_[position % kCells];
    const uint64_t turn = cell.turn.load(std::memory_order_seq_cst);
    if (turn == position + 1) {
      // Relaxed: what it says counts only if the exchange below shows that the cell was ours.
      const uintptr_t word = cell.operation.load(std::memory_order_relaxed);
      if (computing_only && (word & 1) == 0) return nullptr;
      if (pop_position_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
        cell.turn.store(position + kCells, std::memory_order_release);  // pairs with push_ring
        return reinterpret_cast<Operation*>(word & ~uintptr_t{1});
      }
    } else if (turn < position + 1) {
      return nullptr;  // not filled yet: empty
    } else {
      position = pop_position_.load(std::memory_order_relaxed);
    }
  }
}

Operation* ReadyQueue::pop() {
  if (urgent_.load(std::memory_order_seq_cst) != 0) {
    if (Operation* operation = pop_urgent()) return operation;
  }
  if (Operation* operation = pop_ring(false)) return operation;
  if (later_.load(std::memory_order_seq_cst) != 0) return pop_later();
  return nullptr;
}

Operation* ReadyQueue::pop_computing() {
  // Relaxed: a worker is awake for what is urgent, or will be.
  return urgent() ? nullptr : pop_ring(true);
}

Operation* ReadyQueue::pop_urgent() {
  SpinGuard guard(lock_);
  if (high_.empty()) return nullptr;
  // Relaxed, here and below: the counters are hints for this side, and the lock orders the heaps.
  urgent_.fetch_sub(1, std::memory_order_relaxed);
  return high_.pop();
}

Operation* ReadyQueue::pop_later() {
  SpinGuard guard(lock_);
  if (Operation* operation = overflow_.pop()) {
    overflowed_.fetch_sub(1, std::memory_order_relaxed);
    later_.fetch_sub(1, std::memory_order_relaxed);
    return operation;
  }
  if (low_.empty()) return nullptr;
  later_.fetch_sub(1, std::memory_order_relaxed);
  return low_.pop();
}

}  // namespace mxnet::engine
