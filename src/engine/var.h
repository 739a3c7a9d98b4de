// SPDX-License-Identifier: Apache-2.0
// The variable: who may access it now, and who waits for it, in the order of the pushes.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/prefetch.h"
#include "engine/operation.h"
#include "engine/slab_pool.h"

namespace mxnet {

namespace engine {
struct Failure;
struct VarFences;
}  // namespace engine

// Thread-safe; owned by the pool, reached through engine calls only. One word holds the whole state
// of a variable that nobody waits for, so that granting and giving back an access is one exchange.
// The queue behind it has two parts, so that pushers and workers write different cache lines:
// pushes append to the back, under the lock bit; a release that finds the front empty makes the
// whole back the front, likewise. The writer has the front to itself: it hands its access on to a
// write there without touching the state.
//
// Invariants, whenever the lock bit is clear:
//   1. kWriter set => no readers. Readers and the writer count operations that were granted access
//      and have not released it.
//   2. kQueued is set if the queue is not empty, and clear if it is empty and kWriter is not set.
//      Its head is never grantable: either the writer bit is set, or the head is a write and there
//      are readers.
//   3. An access is granted at its push only if kQueued is clear: the order of pushes is the order
//      of grants.
class alignas(64) Var : public engine::Pooled<Var> {
 public:
  // Fetches what taking and releasing change.
  void prefetch() const { prefetch_for_write(&state_); }
  // Grants the access if that needs no waiting. Never queues.
  bool try_take(bool write) {
    uint32_t state = state_.load(std::memory_order_relaxed);  // the exchange decides
    while ((state & kLocked) == 0 && grantable(state, write)) {
      // Acquire pairs with the releases of earlier accesses: their effects are seen by this one.
      if (state_.compare_exchange_weak(state, write ? +kWriter : state + kReader,
                                       std::memory_order_acquire, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // For taking several variables as one step: lock all (in address order, or two pushes could
  // deadlock), then take_or_queue each, which unlocks it. Returns false if `link` was queued.
  void lock();
  bool take_or_queue(bool write, engine::Link* link, engine::Operation* operation);

  // Whether every access granted so far has ended and nobody waits; whether no write is running or
  // waiting. Acquire: if so, what they did is seen.
  bool idle() const { return state_.load(std::memory_order_acquire) == 0; }
  bool readable() const {
    return (state_.load(std::memory_order_acquire) & (kLocked | kWriter | kQueued)) == 0;
  }

  // Ends an access. Operations that become ready by it are appended to `ready`.
  void release(bool write, engine::OperationList& ready) {
    if ((write && front_ != nullptr) || !try_release(write)) [[unlikely]]
      release_to_next(write, ready);
  }

  // Number of writes done. A writer bumps it before it releases.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  void bump_version() {
    // Only the one granted writer changes it: no read-modify-write needed. Release: who sees the
    // new version may look at what was written.
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  static Var* make();
  void recycle() noexcept;
  static void lock_pool();
  static void unlock_pool();

  // What it carries, if anything; guarded by the mutex of the engine's Failures.
  std::shared_ptr<engine::Failure> failure;
  bool order_only = false;  // carries none; set before its first use

  // What was left on streams; null where nothing was. Acquire: pairs with make_fences. What it
  // points to, and changes of it, are guarded by the mutex of the engine's Fences.
  const engine::VarFences* fences() const { return fences_.load(std::memory_order_acquire); }
  engine::VarFences& make_fences();
  void drop_fences() noexcept;

 private:
  enum : uint32_t { kLocked = 1, kWriter = 2, kQueued = 4, kReader = 8 };

  static bool grantable(uint32_t state, bool write) {
    return write ? state == 0 : (state & (kWriter | kQueued)) == 0;
  }
  // Ends an access that nobody waits for; false: nothing has happened.
  bool try_release(bool write) {
    uint32_t state = state_.load(std::memory_order_relaxed);  // the exchange decides
    // Nobody waits, or others still read: give back the count and go.
    while ((state & kLocked) == 0 && ((state & kQueued) == 0 || state >= 2 * kReader)) {
      // Release: the access is over before the next one starts. (Earlier readers' releases stay
      // visible through this exchange to whoever acquires later: it is part of their release
      // sequence.)
      if (state_.compare_exchange_weak(state, write ? 0 : state - kReader,
                                       std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void release_to_next(bool write, engine::OperationList& ready);
  void release_slowly(bool write, engine::OperationList& ready);
  // The first that waits, then in front_; null if nobody does. REQUIRES: the lock bit is ours, and
  // nobody has access.
  engine::Link* head();

  std::atomic<uint32_t> state_{0};
  // Guarded by the lock bit, like tail_, which means nothing while this is null.
  engine::Link* back_ = nullptr;
  engine::Link* tail_ = nullptr;

  // From here on what those write who have access.
  alignas(64) engine::Link* front_ = nullptr;  // of the writer, or see head()
  std::atomic<uint64_t> version_{0};
  std::atomic<engine::VarFences*> fences_{nullptr};  // owned
};

// Moves a variable's grant to a queued operation; true if it was the last that the operation
// missed.
inline bool grant(engine::Operation* operation) {
  // Acquire-release: whoever takes it to 0 has seen what the releasers of all its variables did
  // before.
  return operation->missing.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

}  // namespace mxnet
