// SPDX-License-Identifier: Apache-2.0
// The locks that thread-safety analysis knows do what std ones do; Leaked stays.
#include "base/lock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/leaked.h"

namespace mxnet {
namespace {

TEST(Mutex, ExcludesOthers) {
  constexpr int kThreads = 4, kRounds = 2000;
  struct {
    Mutex mutex;
    int value MX_GUARDED_BY(mutex) = 0;
  } counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const MutexLock lock(counter.mutex);
        ++counter.value;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const MutexLock lock(counter.mutex);
  EXPECT_EQ(counter.value, kThreads * kRounds);
}

TEST(Mutex, TryLockFailsWhileHeld) {
  Mutex mutex;
  const MutexLock lock(mutex);
  std::thread([&] {
    const bool got = mutex.try_lock();
    EXPECT_FALSE(got);
    if (got) mutex.unlock();
  }).join();
}

TEST(CondVar, WaitHoldsTheMutexAgainWhenItReturns) {
  Mutex mutex;
  CondVar changed;
  bool ready = false;
  std::thread other([&] {
    const MutexLock lock(mutex);
    ready = true;
    changed.notify_one();
  });
  {
    const MutexLock lock(mutex);
    while (!ready) changed.wait(mutex);
    EXPECT_TRUE(ready);
  }
  other.join();
}

TEST(CondVar, WaitUntilGivesUpAtTheDeadline) {
  Mutex mutex;
  CondVar never;
  const MutexLock lock(mutex);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (never.wait_until(mutex, deadline)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

TEST(Leaked, IsNeverDestroyed) {
  static int destroyed = 0;
  struct Counted {
    ~Counted() { ++destroyed; }
    int value = 3;
  };
  {
    Leaked<Counted> leaked;
    EXPECT_EQ(leaked->value, 3);
  }
  EXPECT_EQ(destroyed, 0);
}

}  // namespace
}  // namespace mxnet
