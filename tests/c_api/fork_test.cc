// SPDX-License-Identifier: Apache-2.0
// A process forks while its other threads are anywhere inside the library: the child works.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "fork_under_load.h"
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

// The status of a child that works as its parent does.
int status_of_child() {
  constexpr unsigned kSeconds = 20;  // after which a child hangs
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSeconds);
    work();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(Fork, AChildWorksWhateverOtherThreadsWereDoing) {
  MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR();
  constexpr int kForks = 100, kThreads = 3;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      while (!stop) work();
    });
  }
  for (int i = 0, status = 0; i < kForks && status == 0; ++i) {
    status = status_of_child();
    EXPECT_EQ(status, 0) << "child " << i;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// The first call of a process reads the configuration, starts OpenMP and makes the engine.
TEST(ForkDeathTest, AChildWorksWhileAnotherThreadMakesTheFirstCall) {
  MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR();
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // each in a process that has made no call yet
  for (int wait = 0; wait < 1000; wait += 50) {
    EXPECT_EXIT(
        {
          std::thread first(work);
          std::this_thread::sleep_for(std::chrono::microseconds(wait));
          const int status = status_of_child();
          first.join();
          ::_exit(status == 0 ? 0 : 1);
        },
        testing::ExitedWithCode(0), "")
        << "forked after " << wait << " us";
  }
}

}  // namespace
}  // namespace mxnet::c_test
