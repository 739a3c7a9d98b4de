// SPDX-License-Identifier: Apache-2.0
// Waiting for a turn, and what ends it when nobody will give it back.
#include "base/turn.h"

#include <chrono>
#include <thread>

#include "base/error.h"

namespace mxnet {

void Turn::wait(const char* tag) {
  constexpr auto kLook = std::chrono::milliseconds(1);
  // Between taking a turn and writing down whose it is lies no such time.
  constexpr int kLooks = 1000;
  for (int looks = 0; !is_of_this_process(owner_.load(std::memory_order_relaxed)); ++looks) {
    if (take_if_free()) return;
    if (looks == kLooks) {
      throw Error(ErrorCode::kGeneric, tag,
                  "given a handle that another thread of the parent process was using when this "
                  "process was forked, expected one that this process has made");
    }
    std::this_thread::sleep_for(kLook);
  }
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  while (!take_if_free()) {
    if (const uint64_t owner = owner_.load(std::memory_order_seq_cst); owner != 0)
      owner_.wait(owner, std::memory_order_seq_cst);
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace mxnet
