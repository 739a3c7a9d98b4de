// SPDX-License-Identifier: Apache-2.0
// State changes of a variable.
#include "engine/var.h"

#include <utility>

#include "base/prefetch.h"
#include "base/spin_lock.h"
#include "engine/failures.h"
#include "engine/fences.h"

namespace mxnet {
namespace {
using VarPool = engine::SlabPool<Var, 64>;

// Fetches what will be granted next, while the one before it runs, and begins with the one behind.
void expect(const engine::Link& link) {
  prefetch_for_write(link.next);
  link.operation->prefetch();
}

}  // namespace

Var* Var::make() { return VarPool::take(); }

void Var::recycle() noexcept {
  // Relaxed: the variable is ours alone; the pool publishes it to its next user.
  version_.store(0, std::memory_order_relaxed);
  order_only = false;
  drop_fences();
  VarPool::give(this);
}

engine::VarFences& Var::make_fences() {
  // Relaxed: under the lock of those who change it.
  engine::VarFences* fences = fences_.load(std::memory_order_relaxed);
  if (fences == nullptr) {
    fences = new engine::VarFences;
    fences_.store(fences, std::memory_order_release);
  }
  return *fences;
}

void Var::drop_fences() noexcept {
  if (fences_.load(std::memory_order_relaxed) == nullptr) return;  // as above
  delete fences_.exchange(nullptr, std::memory_order_relaxed);
}

void Var::lock_pool() { VarPool::lock_depot(); }
void Var::unlock_pool() { VarPool::unlock_depot(); }

void Var::lock() {
  Backoff backoff;
  for (;;) {
    uint32_t state = state_.load(std::memory_order_relaxed);  // the exchange decides
    // Acquire pairs with the unlocking store and with release's exchange.
    if ((state & kLocked) == 0 &&
        state_.compare_exchange_weak(state, state | kLocked, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return;
    }
    backoff.pause();
  }
}

bool Var::take_or_queue(bool write, engine::Link* link, engine::Operation* operation) {
  // Relaxed: while we hold the lock bit nobody else changes the word.
  const uint32_t state = state_.load(std::memory_order_relaxed) & ~kLocked;
  // Every store below releases the lock bit: release, so that the next holder sees the queue.
  if (grantable(state, write)) {
    state_.store(write ? +kWriter : state + kReader, std::memory_order_release);
    return true;
  }
  *link = {nullptr, operation, write};
  (back_ == nullptr ? back_ : tail_->next) = link;
  tail_ = link;
  state_.store(state | kQueued, std::memory_order_release);
  return false;
}

void Var::release_to_next(bool write, engine::OperationList& ready) {
  // The state stays as it is: written, by the next one now.
  if (write && front_ != nullptr && front_->write) {
    engine::Operation* const operation = front_->operation;
    front_ = front_->next;
    if (front_ != nullptr) expect(*front_);
    if (grant(operation)) ready.push(operation);
    return;
  }
  if (!try_release(write)) release_slowly(write, ready);
}

engine::Link* Var::head() {
  if (front_ == nullptr) front_ = std::exchange(back_, nullptr);
  return front_;
}

void Var::release_slowly(bool write, engine::OperationList& ready) {
  lock();
  uint32_t state = state_.load(std::memory_order_relaxed) & ~kLocked;  // see take_or_queue
  state = write ? state & ~kWriter : state - kReader;
  engine::Link* granted = nullptr;
  if (state < kReader && head() != nullptr) {  // nobody has access any more: the head may go
    granted = front_;
    engine::Link* last = granted;
    front_ = granted->next;
    if (granted->write) {
      state |= kWriter;
    } else {  // and all reads that directly follow it
      state += kReader;
      while (head() != nullptr && !front_->write) {
        last->next = front_;
        last = front_;
        front_ = last->next;
        state += kReader;
      }
    }
    last->next = nullptr;
  }
  if (front_ == nullptr && back_ == nullptr) state &= ~kQueued;
  state_.store(state, std::memory_order_release);  // unlocks, see take_or_queue
  // The variable is not touched from here on: the granted operation may be its end.
  while (granted != nullptr) {
    engine::Link* next = granted->next;  // read first: the record may run and return to its pool
    engine::Operation* operation = granted->operation;
    if (grant(operation)) ready.push(operation);
    granted = next;
  }
}

}  // namespace mxnet
