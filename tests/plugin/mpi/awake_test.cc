// SPDX-License-Identifier: Apache-2.0
// When a thread that has just had work sleeps: times are given, none are taken.
#include "plugin/mpi/awake.h"

#include <gtest/gtest.h>

namespace mxnet::mpi {
namespace {

using std::chrono::microseconds;
constexpr Awake::Clock::time_point kStart{std::chrono::seconds(1000)};

TEST(Awake, StaysForAMomentAfterWork) {
  const Awake awake;
  EXPECT_TRUE(awake.stays(kStart, kStart + microseconds(20)));
  EXPECT_FALSE(awake.stays(kStart, kStart + microseconds(100)));
}

// What is beside it of the same job gives the core back at once.
TEST(Awake, StaysBesideProcessesThatGiveWayThemselves) {
  Awake awake;
  const auto then = kStart + microseconds(30);
  awake.gave_way(kStart, then);
  EXPECT_TRUE(awake.stays(then, then + microseconds(20)));
}

// Each time that it gave way it would wait for all their turns: that made barriers beside two other
// programs a core take eight times as long as those of sleepers.
TEST(Awake, SleepsBesideProgramsThatKeepTheCore) {
  Awake awake;
  const auto then = kStart + microseconds(3000);
  awake.gave_way(kStart, then);
  EXPECT_FALSE(awake.stays(then, then + microseconds(20)));
  const auto late = then + Awake::kCrowd - microseconds(100);
  EXPECT_FALSE(awake.stays(late, late + microseconds(20)));
  const auto later = then + Awake::kCrowd;
  EXPECT_TRUE(awake.stays(later, later + microseconds(20))) << "they may have ended";
}

}  // namespace
}  // namespace mxnet::mpi
