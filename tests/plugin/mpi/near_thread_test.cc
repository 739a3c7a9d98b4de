// SPDX-License-Identifier: Apache-2.0
// What /proc tells of threads of this process, and what that excuses: looks are given, none taken.
#include "plugin/mpi/near_thread.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

namespace mxnet::mpi {
namespace {

using std::chrono::milliseconds;
using Look = NearThread::Look;

int this_thread() { return static_cast<int>(syscall(SYS_gettid)); }

TEST(NearThread, OneThatComputesIsReadyAndGoesOn) {
  const NearThread mine(getpid(), this_thread());
  const auto first = mine.look();
  ASSERT_TRUE(first && first->ready);
  for (auto now = mine.look(); now && now->ran < first->ran + milliseconds(50);) now = mine.look();
  EXPECT_GE(mine.look()->ran, first->ran + milliseconds(50));
}

TEST(NearThread, OneThatWaitsIsNotReadyAndOneThatHasEndedIsNotThere) {
  std::promise<int> number;
  std::promise<void> end;
  std::thread other([&] {
    number.set_value(this_thread());
    end.get_future().wait();
  });
  const NearThread there(getpid(), number.get_future().get());
  while (there.look()->ready) std::this_thread::yield();
  end.set_value();
  other.join();
  while (there.look()) std::this_thread::yield();  // a moment after its end
  EXPECT_FALSE(NearThread().look());
}

// A timeout of eight seconds, ten of them at most, looks every 100 ms.
constexpr milliseconds kMost{80000}, kBetween{100};

TEST(Starving, ExcusesWhoIsReadyAndGetsNoCore) {
  Starving starving(kMost);
  for (int i = 0; i < 700; ++i)
    EXPECT_TRUE(starving.excuses(Look{true, milliseconds(5000 + i / 10)}, kBetween)) << i;
}

TEST(Starving, ExcusesNobodyWhoWaitsHasEndedOrCannotBeSeen) {
  Starving starving(kMost);
  EXPECT_FALSE(starving.excuses(Look{false, milliseconds(5)}, kBetween));
  EXPECT_FALSE(starving.excuses(std::nullopt, kBetween));
  EXPECT_FALSE(starving.excuses(NearThread().look(), kBetween));
}

// It has had the time for a sign and gave none.
TEST(Starving, ExcusesNobodyWhoRuns) {
  Starving starving(kMost);
  EXPECT_TRUE(starving.excuses(Look{true, milliseconds(5000)}, kBetween));
  EXPECT_FALSE(starving.excuses(Look{true, milliseconds(5000) + Starving::kEnough}, kBetween));
  starving.end();
  EXPECT_TRUE(starving.excuses(Look{true, milliseconds(6000)}, kBetween)) << "another silence";
}

// Whatever it waits for that never comes.
TEST(Starving, ExcusesNobodyForEver) {
  Starving starving(kMost);
  int times = 0;
  while (starving.excuses(Look{true, {}}, kBetween)) ++times;
  EXPECT_EQ(times, kMost / kBetween);
}

}  // namespace
}  // namespace mxnet::mpi
