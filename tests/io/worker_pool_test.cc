// SPDX-License-Identifier: Apache-2.0
// Threads that share items.
#include "io/worker_pool.h"

#include <gtest/gtest.h>

#include <stdexcept>

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

}  // namespace
}  // namespace mxnet::io
