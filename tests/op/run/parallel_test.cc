// SPDX-License-Identifier: Apache-2.0
// When an operator uses several threads, and how it divides its items.
#include "op/run/parallel.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/config_process.h"
#include "base/config_table.h"
#include "base/cpu_info.h"
#include "base/crowd_watch.h"
#include "base/of_thread.h"
#include "op/sorting/vector_sort.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

TEST(Parallel, SmallWorkStaysOnOneThread) {
  EXPECT_EQ(threads_worth(0, 1, 200000, 8), 1);
  EXPECT_EQ(threads_worth(199999, 1, 200000, 8), 1);
  EXPECT_EQ(threads_worth(200000, 1, 200000, 8), 2);
  EXPECT_EQ(threads_worth(20000, 10, 200000, 8), 2);  // expensive items count for more
}

TEST(Parallel, MoreWorkGetsMoreThreadsUpToAllOfThem) {
  EXPECT_EQ(threads_worth(400000, 1, 200000, 8), 4);
  EXPECT_EQ(threads_worth(1'000'000'000, 1, 200000, 8), 8);
  EXPECT_EQ(threads_worth(1'000'000'000, 1, 200000, 1), 1);
  EXPECT_EQ(threads_worth(1, 1, 0, 8), 2);
}

TEST(Parallel, ConfiguredSizeDecidesAboutThreads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(4);
  config_set("MXNET_CPU_PARALLEL_SIZE", "1000");
  EXPECT_EQ(threads_for(999), 1);
  EXPECT_EQ(threads_for(2000), 4);
  config_set("MXNET_CPU_PARALLEL_SIZE", "1000000");
  EXPECT_EQ(threads_for(2000), 1);
  config_set("MXNET_CPU_PARALLEL_SIZE", std::nullopt);
  omp_set_num_threads(before);
}

TEST(Parallel, TuningMayBeLimitedToSomeTypes) {
  EXPECT_TRUE(tuned_types("1").contains(DType::kFloat32));
  EXPECT_FALSE(tuned_types("0").contains(DType::kFloat32));
  const DTypeSet some = tuned_types("float16,int32");
  EXPECT_TRUE(some.contains(DType::kFloat16) && some.contains(DType::kInt32));
  EXPECT_FALSE(some.contains(DType::kFloat32));
}

// Whoever begins regions looks whether other programs need the cores: a thread of the program, too,
// and within one operation.
TEST(Parallel, AThreadThatBeginsRegionsTakesStockFromTimeToTime) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (allowed_cpus().size() == 1) GTEST_SKIP() << "nobody is waited for";
  int stocks = 0;
  std::thread([&stocks] {
    omp_set_num_threads(2);
    const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::atomic<int64_t> items{0};
    do {
      parallel_for(
          2, 1e6, [&](int64_t first, int64_t end) { items += end - first; }, 1);
      stocks = of_thread<CrowdWatch>().stocks();
    } while (stocks < 2 && std::chrono::steady_clock::now() < last);
  }).join();
  EXPECT_GE(stocks, 2);
}

TEST(ParallelDeathTest, WithoutTuningTheNumberOfElementsDecides) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has not read it yet
  const auto decide = [](const char* tuned) {
    setenv("MXNET_USE_OPERATOR_TUNING", tuned, 1);
    omp_set_num_threads(8);
    std::exit(threads_for(50'000, tuned_cost(DType::kFloat32, 8.0)));
  };
  EXPECT_EXIT(decide("float32"), testing::ExitedWithCode(4), "");
  EXPECT_EXIT(decide("float64"), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(decide("0"), testing::ExitedWithCode(1), "");
}

TEST(ParallelDeathTest, AssumedCoresLimitTheThreads) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has not read it yet
  const auto decide = [] {
    setenv("MXNET_USE_NUM_CORES_OPERATOR_TUNING", "3", 1);
    omp_set_num_threads(8);
    std::exit(threads_for(1'000'000'000));
  };
  EXPECT_EXIT(decide(), testing::ExitedWithCode(3), "");
}

TEST(Parallel, OneThreadInsideOfAParallelRegion) {
  std::atomic<int> most{0};
#pragma omp parallel num_threads(2)
  {
    const int threads = threads_for(1'000'000'000);
    if (threads > most) most = threads;
  }
  EXPECT_EQ(most, 1);
}

TEST(Parallel, PartsCoverEachItemOnce) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(4);
  for (int64_t count : {0, 1, 15, 16, 17, 1000, 400'001, 1'000'003}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    parallel_for(count, 1.0, [&](int64_t first, int64_t last) {
      EXPECT_TRUE(first % 16 == 0) << first;
      for (int64_t i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    for (const std::atomic<int>& times : seen) ASSERT_EQ(times, 1) << count;
  }
  omp_set_num_threads(before);
}

// The threads of a region of all of them.
std::set<pid_t> members_of_pool() {
  std::mutex mutex;
  std::set<pid_t> members;
#pragma omp parallel num_threads(omp_get_max_threads())
  {
    const std::lock_guard<std::mutex> lock(mutex);
    members.insert(::gettid());
  }
  return members;
}

TEST(Parallel, WorkForFewLeavesThePoolAsItIs) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(16);
  const std::set<pid_t> members = members_of_pool();
  EXPECT_EQ(members.size(), 16U);
  std::atomic<int> parts{0};
  parallel_for(200'000, 1.0, [&](int64_t, int64_t) { ++parts; });
  EXPECT_EQ(parts, 2);
  EXPECT_EQ(members_of_pool(), members);  // GNU OpenMP ends threads that a region does not want
  constexpr int64_t kKeys = 1 << 16;
  std::vector<SortKey<int32_t>> keys(kKeys);
  for (int64_t i = 0; i < kKeys; ++i) keys[static_cast<std::size_t>(i)] = i * 7919 % kKeys;
  sort_by_vectors<int32_t>(keys.data(), kKeys, 0);  // worth 13 threads
  EXPECT_EQ(members_of_pool(), members);
  omp_set_num_threads(before);
}

TEST(Parallel, WhatTheFirstPartThrowsReachesTheCallerWhenAllHaveEnded) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(4);
  std::atomic<int> ended{0};
  try {
    parallel_for(4'000'000, 1.0, [&](int64_t first, int64_t) {
      ++ended;
      if (first > 0) throw std::runtime_error(std::to_string(first));
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "1000000");
  }
  EXPECT_EQ(ended, 4);
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace mxnet
