// SPDX-License-Identifier: Apache-2.0
// The orders in which an emulated GPU runs its threads.
#include "host_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "tests/exec/arrays.h"

namespace mxnet::cuda {
namespace {

using Order = HostSchedule::Order;

std::vector<int64_t> turns_of(const HostSchedule& schedule, int64_t n, uint64_t salt = 0) {
  std::vector<int64_t> order;
  Turns(schedule, n, salt).each(0, n, [&](int64_t i) { order.push_back(i); });
  return order;
}

TEST(HostSchedule, EachThreadHasOneTurnInEveryOrder) {
  for (const int64_t n : {1, 2, 3, 6, 32, 256, 30030, 65537}) {
    std::vector<int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(turns_of({}, n), all);
    std::vector<int64_t> reversed = turns_of({Order::kReverse, 0, 1}, n);
    std::reverse(reversed.begin(), reversed.end());
    EXPECT_EQ(reversed, all);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<int64_t> shuffled = turns_of({Order::kShuffle, seed, 1}, n);
      std::sort(shuffled.begin(), shuffled.end());
      EXPECT_EQ(shuffled, all) << "seed " << seed;
    }
  }
}

TEST(HostSchedule, AShuffledOrderFollowsFromItsSeed) {
  const HostSchedule one{Order::kShuffle, 7, 1}, other{Order::kShuffle, 8, 1};
  EXPECT_EQ(turns_of(one, 1000), turns_of(one, 1000));
  EXPECT_NE(turns_of(one, 1000), turns_of(other, 1000));
  EXPECT_NE(turns_of(one, 1000, 1), turns_of(one, 1000, 2)) << "of different launches";
}

// Larger than what 64 bits hold the square of.
TEST(HostSchedule, TurnsOfAHugeLaunchCanBeginAnywhere) {
  const int64_t n = (int64_t{1} << 40) + 9;
  const Turns turns({Order::kShuffle, 3, 1}, n, 0);
  std::vector<int64_t> together, apart;
  turns.each(n / 2, n / 2 + 6, [&](int64_t i) { together.push_back(i); });
  for (int64_t turn = n / 2; turn < n / 2 + 6; ++turn)
    turns.each(turn, turn + 1, [&](int64_t i) { apart.push_back(i); });
  EXPECT_EQ(together, apart);
}

TEST(HostSchedule, ThreadsOfTheHostShareTheTurns) {
  for (const int threads : {1, 3, 8}) {
    const HostSchedule schedule{Order::kShuffle, 5, threads};
    std::vector<std::atomic<int>> seen(100);
    const Turns turns(schedule, 100, 0);
    share_turns(schedule, 100, [&](int64_t begin, int64_t end) {
      turns.each(begin, end, [&](int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
    });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(HostSchedule, WhatOneThreadThrowsReachesTheLaunchWhenAllHaveEnded) {
  for (const int64_t thrower : {0, 40, 99}) {
    std::atomic<int> ended{0};
    const std::string error = error_of([&] {
      share_turns({Order::kForward, 0, 3}, 100, [&](int64_t begin, int64_t end) {
        if (begin <= thrower && thrower < end) throw Error(ErrorCode::kValue, "kernel", "given 7");
        ++ended;
      });
    });
    EXPECT_TRUE(contains(error, "given 7")) << thrower;
    EXPECT_EQ(ended, 2) << thrower;
  }
}

// Each element is the sum of its neighbours, in place: whoever comes later reads what is new.
TEST(HostSchedule, OrdersTellAKernelWhoseThreadsReadWhatOthersWrite) {
  const auto result = [](const HostSchedule& schedule) {
    std::vector<int> x(64, 1);
    Turns(schedule, 62, 0).each(0, 62, [&](int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      x[at + 1] = x[at] + x[at + 2];
    });
    return x;
  };
  const std::vector<int> forward = result({});
  EXPECT_NE(result({Order::kReverse, 0, 1}), forward);
  EXPECT_NE(result({Order::kShuffle, 1, 1}), forward);
}

// Each block writes its number, waits at a barrier, and reads it: from a place that all of them
// share.
TEST(HostSchedule, OrdersTellAKernelWhoseBlocksUseEachOthersPlaces) {
  const auto read = [](const HostSchedule& schedule) {
    std::vector<int64_t> found(20);
    int64_t place = -1;
    Turns(schedule, 20, 0)
        .each_together(schedule.blocks_at_once(), 0, 20, [&](const std::vector<int64_t>& blocks) {
          for (const int64_t block : blocks) place = block;
          for (const int64_t block : blocks) found[static_cast<std::size_t>(block)] = place;
        });
    return found;
  };
  std::vector<int64_t> own(20);
  std::iota(own.begin(), own.end(), 0);
  EXPECT_EQ(read({}), own) << "one block at a time";
  EXPECT_NE(read({Order::kReverse, 0, 1}), own);
  EXPECT_NE(read({Order::kShuffle, 1, 1}), own);
  EXPECT_EQ(std::ranges::count(read({Order::kReverse, 0, 1}), -1), 0) << "the last few have a turn";
}

TEST(HostSchedule, VariablesSayWhatTheyMayBe) {
  EXPECT_EQ(HostSchedule::from({}, {}).order, Order::kForward);
  EXPECT_EQ(HostSchedule::from("forward", "3").threads, 3);
  EXPECT_EQ(HostSchedule::from("reverse", {}).order, Order::kReverse);
  EXPECT_EQ(HostSchedule::from("shuffle:42", {}).seed, 42u);
  const auto error = [](const char* order, const char* threads) {
    return error_of([&] { HostSchedule::from(order, threads); });
  };
  for (const char* wrong : {"", "backward", "shuffle", "shuffle:", "shuffle:x", "shuffle:-1"})
    EXPECT_TRUE(contains(error(wrong, "1"), "MXNET_TEST_GPU_ORDER: given '")) << error(wrong, "1");
  for (const char* wrong : {"", "0", "-1", "65", "many"})
    EXPECT_TRUE(contains(error("reverse", wrong), "MXNET_TEST_GPU_THREADS: given '"))
        << error("reverse", wrong);
}

}  // namespace
}  // namespace mxnet::cuda
