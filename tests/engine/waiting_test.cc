// SPDX-License-Identifier: Apache-2.0
// OneShot, Bell, Dock and Tally: no wake-up is lost, whatever the interleaving.
#include "engine/waiting.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/tally.h"

namespace mxnet::engine {
namespace {

constexpr int kRounds = 3000;

TEST(OneShot, WakesItsWaiterWhenRungBeforeOrAfterTheWait) {
  for (int i = 0; i < kRounds; ++i) {
    OneShot event;
    int value = 0;
    std::thread ringer([&] {
      value = i;
      event.ring();
    });
    if (i % 2 == 0) std::this_thread::yield();
    event.wait();
    EXPECT_EQ(value, i);
    ringer.join();
  }
}

TEST(Bell, EachChangeReachesTheSleeper) {
  Bell bell;
  std::atomic<int> turn{0};
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      bell.wait([&] { return turn.load() == 2 * i + 1; });
      turn.store(2 * i + 2);
      bell.ring();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    turn.store(2 * i + 1);
    bell.ring();
    bell.wait([&] { return turn.load() == 2 * i + 2; });
  }
  other.join();
  EXPECT_EQ(turn, 2 * kRounds);
}

TEST(Bell, AWaitGivesUpAtItsDeadline) {
  Bell bell;
  EXPECT_FALSE(bell.wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(1),
                               [] { return false; }));
  EXPECT_FALSE(bell.awaited());
}

TEST(Dock, EveryPieceOfWorkFindsAWorkerAwakeOrWakesOne) {
  Dock dock;
  std::atomic<int> work{0}, done{0};
  std::atomic<bool> stop{false};
  const auto worker = [&] {
    for (;;) {
      int available = work.load();
      while (available > 0 && !work.compare_exchange_weak(available, available - 1)) {
      }
      if (available > 0) {
        ++done;
        continue;
      }
      if (stop) return;
      dock.announce();
      if (work.load() > 0 || stop)
        dock.cancel();
      else
        dock.sleep();
    }
  };
  std::thread a(worker), b(worker);
  for (int i = 0; i < kRounds; ++i) {
    ++work;
    dock.wake_one();
    while (i % 100 == 0 && done != i + 1) std::this_thread::yield();
  }
  while (done != kRounds) std::this_thread::yield();
  stop = true;
  dock.wake_one();
  dock.wake_one();
  a.join();
  b.join();
  EXPECT_EQ(done, kRounds);
}

TEST(Tally, AnEraIsIdleWhenItsOwnOperationsAreDoneWhateverStartsLater) {
  Tally tally;
  const bool first = tally.era();
  tally.start(1, first);
  EXPECT_EQ(tally.turn(), first);
  const bool second = tally.era();
  tally.start(2, second);
  EXPECT_NE(first, second);
  EXPECT_FALSE(tally.idle(first));
  tally.finish(3, first);
  EXPECT_TRUE(tally.idle(first));
  EXPECT_FALSE(tally.idle());
  tally.finish(1, second);
  EXPECT_TRUE(tally.idle());
}

}  // namespace
}  // namespace mxnet::engine
