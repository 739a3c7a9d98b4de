// SPDX-License-Identifier: Apache-2.0
// A process forks while its other threads are anywhere inside the library: the child works.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "handles.h"

namespace mxnet::c_test {
namespace {

// A first touch of an array, a seeding and a draw, a recorded call.
void work() {
  int before = 0;
  EXPECT_EQ(MXRandomSeed(3), 0) << MXGetLastError();
  const Array drawn = call("_random_uniform", {}, {{"shape", "(10,)"}});
  const Array x(Values{1, 2});
  EXPECT_EQ(MXAutogradSetIsRecording(1, &before), 0);
  EXPECT_EQ(call("elemwise_add", {x.get(), x.get()}).values(), (Values{2, 4}));
  EXPECT_EQ(MXAutogradSetIsRecording(before, &before), 0);
}

TEST(Fork, AChildWorksWhateverOtherThreadsWereDoing) {
  constexpr int kForks = 100, kThreads = 3;
  constexpr unsigned kSeconds = 20;  // after which a child hangs
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      while (!stop) work();
    });
  }
  for (int i = 0; i < kForks; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kSeconds);
      work();
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "child " << i;
    if (status != 0) break;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace mxnet::c_test
