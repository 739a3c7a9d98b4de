// SPDX-License-Identifier: Apache-2.0
// A bell within one process; that processes see each other's, tests of jobs show.
#include "plugin/mpi/doorbell.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace mxnet::mpi {
namespace {

// Longer than a test may take: whoever sleeps so long has not been woken.
constexpr std::chrono::hours kForever{24};

TEST(Doorbell, ARingWakesWhoSleepsAndWhoIsAboutTo) {
  Doorbell bell;
  constexpr int kRounds = 2000;
  std::atomic<int> asked{0};
  int heard_of = 0;
  std::thread sleeper([&] {
    while (heard_of < kRounds) {
      const uint32_t heard = bell.rings();
      const int now = asked.load();
      if (now > heard_of) {
        heard_of = now;
      } else {
        bell.sleep(heard, kForever);
      }
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    ++asked;
    bell.ring();
  }
  sleeper.join();
  EXPECT_EQ(heard_of, kRounds);
}

TEST(Doorbell, ASleepEndsByItself) {
  Doorbell bell;
  const uint32_t heard = bell.rings();
  bell.sleep(heard, std::chrono::microseconds(20));
  EXPECT_EQ(bell.rings(), heard);
}

TEST(Doorbell, AJobOfOneHasNobodyElseToRing) {
  Doorbell bell;
  bell.meet(MPI_COMM_WORLD);
  EXPECT_TRUE(bell.all_near());
  const uint32_t before = bell.rings();
  bell.ring(0);
  EXPECT_EQ(bell.rings(), before) << "its own is rung without a rank";
}

}  // namespace
}  // namespace mxnet::mpi
