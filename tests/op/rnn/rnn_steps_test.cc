// SPDX-License-Identifier: Apache-2.0
// The steps of a recurrent layer: each is done by all threads before one of them begins the next.
#include "op/rnn/steps.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <thread>
#include <vector>

#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

TEST(RnnSteps, NobodyGoesOnBeforeAllHaveCome) {
  constexpr int kMembers = 3, kRounds = 2000;
  rnn::Meeting meeting;
  std::array<int, kMembers> done{};  // of each member; written by it, read by all others
  std::array<int, kMembers> early{};
  std::vector<std::thread> members;
  members.reserve(kMembers);
  for (std::size_t me = 0; me < kMembers; ++me) {
    members.emplace_back([&, me] {
      for (int round = 1; round <= kRounds; ++round) {
        done[me] = round;
        meeting.wait(kMembers);
        for (const int other : done) early[me] += other != round ? 1 : 0;
        meeting.wait(kMembers);
      }
    });
  }
  for (std::thread& member : members) member.join();
  EXPECT_EQ(early, (std::array<int, kMembers>{}));
}

TEST(RnnSteps, EachUnitIsDoneOnceInEachStepAndStepsAreInOrder) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  // Many units, little work for a row: columns are shared. Few units: rows are.
  for (const int64_t units : {int64_t{4096}, int64_t{48}}) {
    const rnn::StepShape shape{9, 24, units, 4096, 16, false};
    std::vector<int> steps(static_cast<std::size_t>(shape.batch * units), 2);
    std::vector<int> wrong(steps.size());
    rnn::each_step(shape, 2, 9, [&](int64_t step, int64_t r0, int64_t r1, int64_t u0, int64_t u1) {
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t u = u0; u < u1; ++u) {
          const auto at = static_cast<std::size_t>(r * units + u);
          wrong[at] += steps[at]++ != step ? 1 : 0;
        }
      }
    });
    EXPECT_EQ(steps, std::vector<int>(steps.size(), 9)) << units;
    EXPECT_EQ(wrong, std::vector<int>(steps.size())) << units;
  }
}

TEST(RnnSteps, WeightsThatTheCachesHoldAreSharedByRows) {
  constexpr int64_t kManyRows = 4096;  // full tiles for any number of threads
  const auto of = [](int64_t batch, int64_t units, bool rows_only) {
    return rnn::sharing({64, batch, units, 4 * units, 32, rows_only});
  };
  EXPECT_EQ(of(kManyRows, 512, false), rnn::Sharing::kFullRows);
  EXPECT_EQ(of(1, 512, true), rnn::Sharing::kRows) << "tiles would not be full";
  EXPECT_EQ(of(kManyRows, 16384, false), rnn::Sharing::kUnits) << "4 GiB of weights a step";
  EXPECT_EQ(of(kManyRows, 16384, true), rnn::Sharing::kFullRows) << "whatever that costs";
}

TEST(RnnSteps, DirectionsOfFewSamplesRunBesideEachOtherOnTwoThreads) {
  const int threads = omp_get_max_threads();
  const auto of = [](int64_t batch, int64_t units, bool rows_only = false) {
    return rnn::one_thread_each({100, batch, units, 4 * units, 32, rows_only});
  };
  omp_set_num_threads(2);
  EXPECT_TRUE(of(8, 128));
  EXPECT_TRUE(of(1, 128, true)) << "of one sample the other thread would have nothing to do";
  EXPECT_FALSE(of(1, 4)) << "too little for a second thread";
  EXPECT_FALSE(of(64, 128)) << "rows are shared, and nobody waits";
  EXPECT_FALSE(of(8, 1024)) << "each thread's cache holds its own units' weights only";
  omp_set_num_threads(1);
  EXPECT_FALSE(of(8, 128));
  omp_set_num_threads(threads);
}

}  // namespace
}  // namespace mxnet
