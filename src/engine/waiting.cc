// SPDX-License-Identifier: Apache-2.0
// The sleeping halves of OneShot, Bell and Dock.
#include "engine/waiting.h"

#include <thread>

#include "base/cpu_relax.h"
#include "engine/interrupt.h"

namespace mxnet::engine {
namespace {
// How long a waiter stays awake for an event that is likely near: about 5 us, what a sleep and a
// wake would cost.
constexpr int kSpins = 100;
}  // namespace

bool OneShot::rung_before_sleep() {
  for (int i = 0; i < kSpins; ++i) {
    if (rung()) return true;
    cpu_relax();
  }
  uint32_t state = kQuiet;
  // Acquire on failure: the failure means that it was rung. Relaxed on success: nothing is
  // published.
  return !state_.compare_exchange_strong(state, kAsleep, std::memory_order_relaxed,
                                         std::memory_order_acquire);
}

void OneShot::wait() {
  if (rung_before_sleep()) return;
  while (!rung()) futex_wait(state_, kAsleep);
}

bool OneShot::wait_unless(int (*leave)()) {
  if (rung_before_sleep()) return true;
  while (!rung()) {
    futex_wait_for(state_, kAsleep, kInterruptSlice);
    if (rung() || leave() == 0) continue;
    uint32_t state = kAsleep;
    // Release: our last use of the object comes before its end in ring.
    return !state_.compare_exchange_strong(state, kAbandoned, std::memory_order_release,
                                           std::memory_order_acquire);
  }
  return true;
}

bool OneShot::abandon() {
  uint32_t state = kQuiet;
  // As at the end of wait_unless().
  return state_.compare_exchange_strong(state, kAbandoned, std::memory_order_release,
                                        std::memory_order_acquire);
}

void Bell::ring_slowly() {
  // Release pairs with the acquire of the epoch: who sees the new epoch sees the changed condition.
  epoch_.fetch_add(1, std::memory_order_release);
  futex_wake_all(epoch_);
}

bool Bell::sleep(uint32_t epoch, std::chrono::steady_clock::time_point deadline) {
  if (deadline == std::chrono::steady_clock::time_point::max()) {
    futex_wait(epoch_, epoch);
    return true;
  }
  const auto left = deadline - std::chrono::steady_clock::now();
  if (left <= std::chrono::steady_clock::duration::zero()) return false;
  futex_wait_for(epoch_, epoch, left);
  return true;
}

bool Dock::take_sleeper() {
  uint32_t count = sleepers_.load(std::memory_order_relaxed);  // the exchange decides
  while (count != 0) {
    // Relaxed: the count carries no data; work and tokens do, by their own operations.
    if (sleepers_.compare_exchange_weak(count, count - 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

void Dock::wake_slowly() {
  if (!take_sleeper()) return;
  tokens_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in sleep
  futex_wake_one(tokens_);
}

bool Dock::take_token() {
  uint32_t tokens = tokens_.load(std::memory_order_relaxed);  // the exchange decides
  while (tokens != 0) {
    if (tokens_.compare_exchange_weak(tokens, tokens - 1, std::memory_order_acquire)) return true;
  }
  return false;
}

// Without a sleeper on the count somebody has taken one off for us, and its token is on the way. It
// is no one's own: another worker may come, take it, and count in our place. Who slept here until
// the next one would keep back the work that it has.
void Dock::cancel() {
  while (!take_sleeper() && !take_token()) std::this_thread::yield();
}

void Dock::sleep() {
  while (!take_token()) futex_wait(tokens_, 0);
}

}  // namespace mxnet::engine
