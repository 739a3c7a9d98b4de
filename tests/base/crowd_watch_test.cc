// SPDX-License-Identifier: Apache-2.0
// When others need the cores, and the pool that tells the runtime so.
#include "base/crowd_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

constexpr int kCpus = 4;

int threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// Threads come and go when the system lets them.
bool becomes(int threads) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (threads_of_this_process() != threads) {
    if (std::chrono::steady_clock::now() > last) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(CrowdWatch, AThreadThatNeverWaitsIsNotInACrowd) {
  EXPECT_FALSE(is_crowded({.wall = 1, .process = 4, .delay = 0}, kCpus, false));
  EXPECT_FALSE(is_crowded({.wall = 1, .process = 0.1, .delay = 0}, kCpus, false));
  EXPECT_FALSE(is_crowded({.wall = 1, .process = 0.1, .delay = 0}, kCpus, true));
}

TEST(CrowdWatch, WaitingForOthersIsACrowd) {
  EXPECT_TRUE(is_crowded({.wall = 1, .process = 1.5, .delay = 0.6}, kCpus, false));
}

TEST(CrowdWatch, WaitingForThreadsOfTheSameProcessIsNone) {
  EXPECT_FALSE(is_crowded({.wall = 1, .process = 3.9, .delay = 0.6}, kCpus, false));
}

TEST(CrowdWatch, ACrowdLastsUntilHardlyAnybodyIsInTheWay) {
  EXPECT_FALSE(is_crowded({.wall = 1, .process = 1.5, .delay = 0.1}, kCpus, false));
  EXPECT_TRUE(is_crowded({.wall = 1, .process = 1.5, .delay = 0.1}, kCpus, true));
  EXPECT_FALSE(is_crowded({.wall = 1, .process = 1.5, .delay = 0.01}, kCpus, true));
}

TEST(CrowdWatch, LooksAreHarmlessWhateverTheMachineDoes) {
  CrowdWatch watch;
  const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < last) watch.look();
}

// In a process of its own, where no other test's threads come to their end.
TEST(IdlePoolDeathTest, ItsThreadsEndWithIt) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const int before = threads_of_this_process();
        bool right = true;
        {
          const IdlePool pool(3);
          right = becomes(before + 3);
        }
        right = becomes(before) && right;
        ::_exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mxnet
