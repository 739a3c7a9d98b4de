// SPDX-License-Identifier: Apache-2.0
// Width and placement of real OpenMP regions, each in a child process because both are the
// process's.
#include "base/omp.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/worker_thread.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

int region_width() {
  int width = 0;
#pragma omp parallel
#pragma omp single
  width = omp_get_num_threads();
  return width;
}

// Where each thread of a region may run.
std::vector<std::vector<int>> region_cpus() {
  std::vector<std::vector<int>> cpus(static_cast<std::size_t>(omp_threads()));
#pragma omp parallel num_threads(omp_threads())
  cpus[static_cast<std::size_t>(omp_get_thread_num())] = allowed_cpus();
  return cpus;
}

void check(bool ok) {
  if (!ok) ::_exit(1);
}

class OmpDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST(OmpThreads, SetNumberIsExact) {
  EXPECT_EQ(choose_omp_threads("7", 0, {2, 2, 0}), 7);
  EXPECT_EQ(choose_omp_threads("1", 0, {64, 32, 0}), 1);
}

TEST(OmpThreads, FirstOfAListCounts) {
  EXPECT_EQ(choose_omp_threads("4,2", 0, {2, 2, 0}), 4);
  EXPECT_EQ(choose_omp_threads(" 3 , 2 , 1", 0, {2, 2, 0}), 3);
}

TEST(OmpThreads, DefaultIsTheCoresNotTheSiblings) {
  EXPECT_EQ(choose_omp_threads("", 0, {8, 4, 0}), 4);
  EXPECT_EQ(choose_omp_threads("", 0, {8, 8, 0}), 8);
}

TEST(OmpThreads, DefaultStaysWithinTheQuota) {
  EXPECT_EQ(choose_omp_threads("", 0, {64, 32, 2.5}), 3);
  EXPECT_EQ(choose_omp_threads("", 0, {64, 32, 0.2}), 1);
  EXPECT_EQ(choose_omp_threads("", 0, {4, 2, 100}), 2);
}

TEST(OmpThreads, MaximumCapsASetNumberAndReplacesTheDefault) {
  EXPECT_EQ(choose_omp_threads("8", 3, {64, 32, 0}), 3);
  EXPECT_EQ(choose_omp_threads("2", 3, {64, 32, 0}), 2);
  EXPECT_EQ(choose_omp_threads("", 6, {8, 4, 0}), 6);
  EXPECT_EQ(choose_omp_threads("", 100, {8, 4, 0}), 8);
  EXPECT_EQ(choose_omp_threads("", 100, {8, 4, 2}), 2);
}

class BadOmpNumThreads : public testing::TestWithParam<const char*> {};
TEST_P(BadOmpNumThreads, IsAnErrorThatNamesTheVariable) {
  try {
    choose_omp_threads(GetParam(), 0, {2, 2, 0});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.tag(), "OMP_NUM_THREADS");
    EXPECT_NE(error.message().find("expected"), std::string::npos);
  }
}
INSTANTIATE_TEST_SUITE_P(OmpThreads, BadOmpNumThreads,
                         testing::Values("0", "-3", "abc", "4,", ",4", "4,x", "4.0", " ",
                                         "99999999999", "65537"));

TEST_F(OmpDeathTest, RegionHasTheConfiguredWidth) {
  EXPECT_EXIT(
      {
        start_omp("3", 0, "");
        check(omp_threads() == 3 && region_width() == 3);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, OtherThreadsFollowAfterSync) {
  EXPECT_EXIT(
      {
        start_omp("3", 0, "");
        std::thread([] {
          sync_omp_thread();
          check(region_width() == 3);
          std::thread([] { set_omp_threads(2); }).join();
          check(omp_threads() == 2 && region_width() == 3);
          sync_omp_thread();
          check(region_width() == 2);
        }).join();
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, ThreadsOfTheProgramFollowToo) {
  EXPECT_EXIT(
      {
        const char* const inherited = std::getenv("OMP_NUM_THREADS");
        start_omp(inherited == nullptr ? "" : inherited, 1, "");
        std::thread([] {
          follow_omp_width();
          check(region_width() == 1);
          set_omp_threads(3);
        }).join();
        std::thread([] {
          {
            const OneThread narrow;
            follow_omp_width();
            check(region_width() == 1);
          }
          follow_omp_width();
          check(region_width() == 3);
        }).join();
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, WhatTheProgramHasSetForAThreadStays) {
  EXPECT_EXIT(
      {
        start_omp("3", 0, "");
        std::thread([] {
          omp_set_num_threads(2);
          follow_omp_width();
          check(region_width() == 2);
        }).join();
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// The limit holds for users that are not root, and for all their processes together: a test that
// may be somebody else is somebody of its own, since others may run at the same time.
void limit_threads(rlim_t most) {
  if (::getuid() == 0) check(::setuid(20'000 + static_cast<uid_t>(::getpid() % 40'000)) == 0);
  const rlimit limit{most, most};
  check(::setrlimit(RLIMIT_NPROC, &limit) == 0);
}

TEST_F(OmpDeathTest, WhereThereCanBeNoMoreThreadsRegionsAreNarrow) {
  EXPECT_EXIT(
      {
        start_omp("16", 0, "");
        limit_threads(1);
        sync_omp_thread();
        check(omp_threads() == 16 && region_width() == 1);
        {
          const ProcessWidth width;
          check(region_width() == 1);
        }
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "refuses the 16 threads .* have 1");
}

TEST_F(OmpDeathTest, AWidthThatNobodyHasGivenIsNotAskedFor) {
  EXPECT_EXIT(
      {
        limit_threads(1);
        omp_set_num_threads(16);
        sync_omp_thread();
        check(omp_get_max_threads() == 16);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, RegionsHaveAllTheThreadsThatThereCanBe) {
  if (::getuid() != 0) GTEST_SKIP() << "the user's other processes count";
  EXPECT_EXIT(
      {
        start_omp("16", 0, "");
        limit_threads(5);
        for (int i = 0; i < 20; ++i) {
          follow_omp_width();
          check(region_width() == 5);
          release_omp_pool();
        }
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "have 5");
}

// Whoever finds fewer because others only ask, or have asked and not begun, may not end the
// process.
TEST_F(OmpDeathTest, ThreadsThatAskAtOneTimeShareWhatThereIs) {
  if (::getuid() != 0) GTEST_SKIP() << "the user's other processes count";
  EXPECT_EXIT(
      {
        constexpr int kMost = 20;
        constexpr int kWorkers = 4;
        start_omp("16", 0, "");
        limit_threads(kMost);
        std::barrier together(kWorkers);
        std::atomic<int> all{1};  // the process's first thread
        const auto work = [&] {
          together.arrive_and_wait();
          sync_omp_thread();
          together.arrive_and_wait();  // all have asked
          hold_omp_pool();
          all += region_width();
          together.arrive_and_wait();  // with its pool
        };
        std::vector<std::thread> workers;
        for (int i = 0; i < kWorkers; ++i) workers.emplace_back(work);
        for (std::thread& worker : workers) worker.join();
        check(all <= kMost);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, OneThreadIsAsWideAsItSaysAndOnlyAsLongAsItLives) {
  EXPECT_EXIT(
      {
        start_omp("3", 0, "");
        {
          const OneThread outer;
          check(region_width() == 1 && omp_get_max_threads() == 1);
          { const OneThread inner; }
          check(region_width() == 1);
        }
        check(region_width() == 3);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, ProcessWidthIsThatOfWorkersAsLongAsItLives) {
  EXPECT_EXIT(
      {
        start_omp("3", 0, "");
        for (const int own : {1, 3, 5}) {
          omp_set_num_threads(own);
          {
            const ProcessWidth outer;
            check(region_width() == 3);
            { const OneThread inner; }
            check(omp_get_max_threads() == 3);
          }
          check(omp_get_max_threads() == own);
        }
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, APoolThatIsReleasedComesBackWithTheNextRegion) {
  EXPECT_EXIT(
      {
        start_omp("3", 0, "");
        release_omp_pool();  // none yet
        for (int i = 0; i < 3; ++i) {
          check(region_width() == 3);
          release_omp_pool();
        }
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, APinnedPoolIsNotReleased) {
  EXPECT_EXIT(
      {
        start_omp("2", 0, "granularity=fine,compact,1,0");
        const auto cpus = region_cpus();
        release_omp_pool();
        check(region_cpus() == cpus);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, DocumentedAffinityPinsEachThreadToOneCpu) {
  EXPECT_EXIT(
      {
        const std::vector<int> all = allowed_cpus();
        start_omp(std::to_string(all.size()), 0, "granularity=fine,compact,1,0");
        std::set<int> used;
        for (const auto& cpus : region_cpus()) {
          check(cpus.size() == 1);
          used.insert(cpus[0]);
        }
        check(std::vector<int>(used.begin(), used.end()) == all);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, MoreThreadsThanPlacesWrapAround) {
  EXPECT_EXIT(
      {
        const std::vector<int> all = allowed_cpus();
        const std::size_t n = all.size();
        start_omp(std::to_string(n + 1), 0, "granularity=fine,compact,1,0");
        const auto cpus = region_cpus();
        check(cpus.size() == n + 1 && cpus[n] == cpus[0]);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, PoolOfAnotherThreadIsPinnedToo) {
  EXPECT_EXIT(
      {
        const std::vector<int> all = allowed_cpus();
        start_omp("2", 0, "granularity=fine,compact,1,0");
        std::thread([&] {
          check(allowed_cpus().size() == 1);  // the creator's place
          prepare_worker_thread();
          check(allowed_cpus() == all);
          sync_omp_thread();
          for (const auto& cpus : region_cpus()) check(cpus.size() == 1);
        }).join();
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

// A worker learns of the new width by a region in the middle of its operation.
TEST_F(OmpDeathTest, APinnedPoolThatBecomesWiderIsPinnedAnew) {
  EXPECT_EXIT(
      {
        const std::size_t places = allowed_cpus().size();
        start_omp("2", 0, "granularity=fine,compact,1,0");
        std::thread([&] {
          prepare_worker_thread();
          sync_omp_thread();
          std::thread([] { set_omp_threads(8); }).join();
          follow_omp_width();
          sync_omp_thread();
          std::map<int, std::size_t> members;
          for (const auto& cpus : region_cpus()) {
            check(cpus.size() == 1);
            ++members[cpus[0]];
          }
          for (const auto& [cpu, count] : members) check(count <= (8 + places - 1) / places);
        }).join();
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OmpDeathTest, VerboseLogsThePlaces) {
  EXPECT_EXIT(
      {
        start_omp("2", 0, "verbose,granularity=fine,compact");
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "KMP_AFFINITY: thread 0 -> CPU 0");
}

TEST_F(OmpDeathTest, UnsupportedAffinityWarnsAndPinsNothing) {
  EXPECT_EXIT(
      {
        const std::vector<int> all = allowed_cpus();
        start_omp("2", 0, "explicit,proclist=[0]");
        for (const auto& cpus : region_cpus()) check(cpus == all);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "W ValueError: \\[KMP_AFFINITY\\].*supported is");
}

TEST_F(OmpDeathTest, ForkedChildRunsNarrowAndUnpinned) {
  EXPECT_EXIT(
      {
        const std::vector<int> all = allowed_cpus();
        start_omp("2", 0, "granularity=fine,compact,1,0");
        check(region_width() == 2);
        const pid_t child = ::fork();
        if (child == 0) {
          check(omp_threads() == 1 && region_width() == 1 && allowed_cpus() == all);
          ::_exit(0);
        }
        int status = 1;
        check(::waitpid(child, &status, 0) == child && status == 0);
        check(region_width() == 2);
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(OmpThreads, SettingZeroIsAnError) { EXPECT_THROW(set_omp_threads(0), Error); }

}  // namespace
}  // namespace mxnet
