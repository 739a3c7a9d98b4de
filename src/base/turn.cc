// SPDX-License-Identifier: Apache-2.0
// Waiting for a turn, what ends it when nobody will give it back, and how long others come first.
#include "base/turn.h"

#include <chrono>
#include <thread>

#include "base/error.h"

namespace mxnet {
namespace {

// A few times what it takes to wake a thread, so that most of the time somebody is at work.
constexpr uint32_t kPatience = 100;

// It wraps within 72 minutes: a turn may then be promised kPatience late.
uint32_t microseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

bool Turn::take_again() {
  const uint64_t owner = owner_.load(std::memory_order_relaxed);  // changes if it is another's
  if (owner != self() || !is_of_this_process(owner)) return false;
  ++depth_;
  return true;
}

// False when its owner is a thread of this process.
bool Turn::take_from_parent(const char* tag) {
  constexpr auto kLook = std::chrono::milliseconds(1);
  // Between taking a turn and writing down whose it is lies no such time.
  constexpr int kLooks = 1000;
  for (int looks = 0;; ++looks) {
    int process = process_.load(std::memory_order_relaxed);
    if (process == kLost) {
      throw Error(ErrorCode::kGeneric, tag,
                  "given a handle that another thread of the parent process was using when this "
                  "process was forked, expected one that this process has made");
    }
    if (is_of_this_process(owner_.load(std::memory_order_relaxed))) return false;
    // What was promised in the parent nobody here has waited for.
    if (take_from(kFree) || take_from(kPromised)) return true;
    if (looks < kLooks) {
      std::this_thread::sleep_for(kLook);
    } else {
      // Nobody will look so long again. The owner stays: should it be a thread of this process
      // after all, held up all the while, it writes that down over this.
      process_.compare_exchange_strong(process, kLost, std::memory_order_relaxed);
    }
  }
}

void Turn::take_again_or_wait(const char* tag) {
  if (take_again() || take_from_parent(tag)) return;
  // A turn is promised to those who had entered by then: they know by a wake that came later.
  const uint32_t before = wakes_.load(std::memory_order_seq_cst);
  enter();
  for (;;) {
    const uint32_t wakes = wakes_.load(std::memory_order_seq_cst);
    waking_.store(false, std::memory_order_seq_cst);
    if (take_from(kFree) || (wakes != before && take_from(kPromised))) break;
    wakes_.wait(wakes, std::memory_order_seq_cst);
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
}

void Turn::enter() {
  const auto process = static_cast<uint64_t>(process_id()) << 32;
  uint64_t waiters = waiters_.load(std::memory_order_relaxed);
  uint64_t entered;
  do {
    entered = (waiters >> 32 << 32 == process ? waiters : process) + 1;
  } while (!waiters_.compare_exchange_weak(waiters, entered, std::memory_order_seq_cst));
}

bool Turn::is_awaited() const {
  const uint64_t waiters = waiters_.load(std::memory_order_seq_cst);
  return number_of(waiters) > 0 && waiters >> 32 == static_cast<uint64_t>(process_id());
}

void Turn::give_to_waiters() {
  const uint32_t now = microseconds();
  const bool promises = now - promised_ >= kPatience && is_awaited();
  if (promises) promised_ = now;
  owner_.exchange(promises ? kPromised : kFree, std::memory_order_seq_cst);
  wake(promises);
}

// Who is on its way looks after this, and finds a free turn: another need not be woken. Of a
// promise each must hear by a wake of its own: the one on its way may have had its turn while it
// was woken, and who has entered since has heard of nothing.
void Turn::wake(bool promised) {
  if (waking_.exchange(true, std::memory_order_seq_cst) && !promised) return;
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  wakes_.notify_one();
}

}  // namespace mxnet
