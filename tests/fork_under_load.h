// SPDX-License-Identifier: Apache-2.0
// For tests that fork while other threads allocate or are still starting.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

// The runtimes of both sanitizers fork without their allocators' locks (mended in LLVM 17 and GCC
// 14; GCC 12's `__tsan::ForkBefore` takes the registry of threads and two locks of reports): if
// another thread holds one at that moment, and a thread takes some as it starts, the child's first
// allocation waits for ever, whatever the tested code does.
// A test whose load cannot be stopped for a moment says so at its start.
#if defined(__SANITIZE_ADDRESS__)
#define MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR()                                          \
  GTEST_SKIP() << "the sanitizer's allocator does not survive a fork beside a thread that " \
                  "allocates"
#else
#define MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR() static_cast<void>(0)
#endif

namespace mxnet {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kForksBetweenSteps = true;
#else
inline constexpr bool kForksBetweenSteps = false;
#endif

// Forks beside threads whose work goes step by step: at any moment, or under a sanitizer between
// their steps.
class ForkBesideSteps {
 public:
  template <class Step>
  void step(const Step& step) {
    if (!enter()) return;
    step();
    --inside_;
  }

  // `settle` runs before it where threads stand between their steps: what they have set going ends.
  template <class Settle>
  pid_t fork(const Settle& settle) {
    closed_ = kForksBetweenSteps;
    if constexpr (kForksBetweenSteps) {
      while (inside_ != 0) std::this_thread::yield();
      settle();
    }
    const pid_t child = ::fork();
    if (child != 0) closed_ = false;
    return child;
  }
  pid_t fork() {
    return fork([] {});
  }

 private:
  // False: not now.
  bool enter() {
    ++inside_;
    if (!closed_) return true;
    --inside_;
    std::this_thread::yield();
    return false;
  }

  std::atomic<int> inside_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace mxnet
