// SPDX-License-Identifier: Apache-2.0
// When others need the cores, and the pool that tells the runtime so.
#include "base/crowd_watch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

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

constexpr CpuUse kAlone{.wall = 0.05, .process = 0.2, .delay = 0};
constexpr CpuUse kAmongOthers{.wall = 0.05, .process = 0.07, .delay = 0.03};

// How long a crowd lasts once nobody is in the way.
double seconds_until_calm(Crowd& crowd) {
  double seconds = kAlone.wall;
  while (crowd.after(kAlone, kCpus)) seconds += kAlone.wall;
  return seconds;
}

TEST(Crowd, AThreadThatNeverWaitsIsInNone) {
  Crowd crowd;
  EXPECT_FALSE(crowd.after(kAlone, kCpus));
  EXPECT_FALSE(crowd.after({.wall = 1, .process = 0.1, .delay = 0}, kCpus));
}

TEST(Crowd, WaitingForThreadsOfTheSameProcessIsNone) {
  Crowd crowd;
  EXPECT_FALSE(crowd.after({.wall = 1, .process = 3.9, .delay = 0.6}, kCpus));
}

TEST(IdlePool, MakesThreadsOneMoreThanThereAreCores) {
  for (int cpus = 1; cpus <= 64; ++cpus) {
    for (int width = 1; width <= 2 * cpus + 8; ++width) {
      const int threads = idle_pool_threads(width, cpus);
      if (threads == 0) continue;
      EXPECT_GE(threads, 2) << width << " of " << cpus;
      const int first = 1, of_regions = width - 1, of_pool = threads - 1;
      EXPECT_EQ(first + of_regions + of_pool, cpus + 1) << width << " of " << cpus;
    }
  }
  EXPECT_EQ(idle_pool_threads(2, 2), 2);
}

TEST(IdlePool, IsOfNoUseBesideRegionsOfMoreThreadsThanCores) {
  EXPECT_EQ(idle_pool_threads(3, 2), 0);
  EXPECT_EQ(idle_pool_threads(5, 2), 0);
  EXPECT_EQ(idle_pool_threads(256, 64), 0);
}

TEST(IdlePool, IsOfNoUseWhereRegionsLeaveCoresToOthers) {
  EXPECT_EQ(idle_pool_threads(1, 2), 0);
  EXPECT_EQ(idle_pool_threads(3, 8), 0);
}

TEST(Crowd, LastsAsLongAsOthersAreInTheWay) {
  Crowd crowd;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(crowd.after(kAmongOthers, kCpus));
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(crowd.after({.wall = 0.05, .process = 0.1, .delay = 0.005}, kCpus));
  EXPECT_LE(seconds_until_calm(crowd), 0.1);
}

TEST(Crowd, LastsLongerEachTimeThatItEndsTooEarly) {
  Crowd crowd;
  double before = 0;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(crowd.after(kAmongOthers, kCpus));
    const double seconds = seconds_until_calm(crowd);
    EXPECT_GT(seconds, before);
    before = seconds;
  }
  for (int i = 0; i < 100; ++i) {
    crowd.after(kAmongOthers, kCpus);
    EXPECT_LT(seconds_until_calm(crowd), 2.5);
  }
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(crowd.after(kAlone, kCpus));
  EXPECT_TRUE(crowd.after(kAmongOthers, kCpus));
  EXPECT_LT(seconds_until_calm(crowd), 0.2);
}

// A pool of threads that the sanitizer sees: they sleep until its end, as those of OpenMP.
std::atomic<int> g_model_pools{0};
class ModelPool {
 public:
  explicit ModelPool(int threads) {
    ++g_model_pools;
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { end_.wait(); });
  }
  ~ModelPool() {
    end_.count_down();
    for (std::thread& thread : threads_) thread.join();
    --g_model_pools;
  }

 private:
  std::latch end_{1};
  std::vector<std::thread> threads_;
};
std::shared_ptr<void> make_model_pool(int threads) { return std::make_shared<ModelPool>(threads); }

// Those who look at the crowd, those who end, and who forks.
TEST(SharedIdlePool, IsOneWhoeverAsksAndForksAtOnce) {
  SharedIdlePool pool(&make_model_pool);
  std::vector<std::thread> threads;
  for (int who = 0; who < 3; ++who) {
    threads.emplace_back([&pool, who] {
      const int self = who;
      for (int i = 0; i < 200; ++i) {
        pool.ask(&self, (i + who) % 3, 1e-3 * i);
        static_cast<void>(pool.is_there());
      }
      pool.ask(&self, 0, 1000);
    });
  }
  threads.emplace_back([&pool]() MX_NO_THREAD_SAFETY_ANALYSIS {
    for (int i = 0; i < 100; ++i) {
      pool.hold_for_fork();
      const int held = g_model_pools;
      pool.go_on();
      EXPECT_EQ(held, 0);
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(pool.is_there());
  EXPECT_EQ(g_model_pools, 0);
}

// Whoever asks, there is one pool, until the last of them needs none.
TEST(SharedIdlePool, IsThereWhileOneAsksForIt) {
  SharedIdlePool pool(kOpenMpIsSeen ? &make_idle_pool : &make_model_pool);
  const int first = 0, second = 0;
  EXPECT_FALSE(pool.is_there());
  pool.ask(&first, 0, 0);
  EXPECT_FALSE(pool.is_there());
  pool.ask(&first, 2, 1);
  EXPECT_TRUE(pool.is_there());
  pool.ask(&second, 2, 1.1);
  pool.ask(&first, 0, 1.2);
  EXPECT_TRUE(pool.is_there()) << "the other still needs it";
  pool.ask(&second, 0, 1.3);
  EXPECT_FALSE(pool.is_there());
}

// A thread that waits for workers from now on begins no regions, and looks no more.
TEST(SharedIdlePool, DoesNotOutliveWhoHasGoneSilentByLong) {
  SharedIdlePool pool(kOpenMpIsSeen ? &make_idle_pool : &make_model_pool);
  const int silent = 0, other = 0;
  pool.ask(&silent, 2, 1);
  pool.ask(&other, 0, 1.1);
  EXPECT_TRUE(pool.is_there()) << "perhaps within a long operation";
  pool.ask(&other, 0, 2);
  EXPECT_FALSE(pool.is_there());
}

TEST(SharedIdlePoolDeathTest, IsNotThereInForkedChildrenAndComesBack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        SharedIdlePool pool(kOpenMpIsSeen ? &make_idle_pool : &make_model_pool);
        std::thread([] {}).join();  // with the first one the sanitizer begins one of its own
        const int before = threads_of_this_process();
        pool.ask(&pool, 2, 1);
        pool.hold_for_fork();
        bool right = becomes(before);
        pool.go_on();
        right = !pool.is_there() && right;
        pool.ask(&pool, 2, 1);
        right = pool.is_there() && right;
        ::_exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// Of this thread: how long it has had a processor, and how often it has waited for anything.
struct Spent {
  Spent() {
    rusage use = {};
    EXPECT_EQ(::getrusage(RUSAGE_THREAD, &use), 0);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    processor = seconds(use.ru_utime) + seconds(use.ru_stime);
    waits = use.ru_nvcsw;
  }
  double processor;
  long waits;
};

// Before each region: most looks ask the system nothing, and none waits for it.
TEST(CrowdWatch, LooksCostNextToNothingWhateverTheMachineDoes) {
  CrowdWatch watch;
  int looks = 0;
  const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  const Spent before;
  for (; looks < 10'000 || std::chrono::steady_clock::now() < last; ++looks) watch.look();
  const Spent after;
  EXPECT_LT(after.processor - before.processor, 20e-6 * looks);
  EXPECT_LT(after.waits - before.waits, looks / 1000);
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
