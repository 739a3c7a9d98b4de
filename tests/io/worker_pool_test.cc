// SPDX-License-Identifier: Apache-2.0
// Threads that share items.
#include "io/worker_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace mxnet::io {
namespace {

TEST(WorkerPool, DoesEachItemOnce) {
  for (int threads : {1, 2, 5}) {
    WorkerPool pool(threads);
    for (int64_t items : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(items));
      pool.run(items, [&](int64_t item, int worker) {
        EXPECT_LT(worker, threads);
        ++done[static_cast<std::size_t>(item)];
      });
      for (const auto& count : done) EXPECT_EQ(count, 1);
    }
  }
}

TEST(WorkerPool, RethrowsAndGoesOn) {
  WorkerPool pool(3);
  EXPECT_THROW(pool.run(100,
                        [](int64_t item, int) {
                          if (item == 50) throw std::runtime_error("item 50");
                        }),
               std::runtime_error);
  std::atomic<int> done = 0;
  pool.run(10, [&](int64_t, int) { ++done; });
  EXPECT_EQ(done, 10);
}

// Sanitizers need more addresses than the next test leaves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// No room for the stacks of more than a few threads: as where a machine has no more of them. What a
// stack does not fit into is room enough for all else.
TEST(WorkerPool, WithoutThreadsForAllThrows) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer's memory does not fit";
  const auto make = [] {
    int status = 2;
    constexpr std::size_t kStack = std::size_t{1} << 30;
    constexpr rlim_t kRoom = 4 * kStack;
    const rlimit limit{kRoom, kRoom};
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) == 0 &&
        ::pthread_attr_setstacksize(&attributes, kStack) == 0 &&
        ::pthread_setattr_default_np(&attributes) == 0 && ::setrlimit(RLIMIT_AS, &limit) == 0) {
      try {
        WorkerPool pool(100);
      } catch (const std::system_error&) {
        status = 0;
      }
    }
    std::_Exit(status);
  };
  EXPECT_EXIT(make(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mxnet::io
