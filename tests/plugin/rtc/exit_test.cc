// SPDX-License-Identifier: Apache-2.0
// The end of a process that compiles chains: NVRTC's destructors come before ours.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <thread>

#include "hang.h"
#include "plugin/cuda/rtc/chain_kernels.h"
#include "plugin/cuda/rtc/compile_queue.h"
#include "random_chain.h"

namespace mxnet::testing {
namespace {

using namespace mxnet::cuda;

// Chains enough for the compiler to be at work for a while, begun by the calling thread.
void compile_many() {
  ::setenv("MXNET_CUDA_CACHE_SIZE", "0", 1);
  for (const char* name : {"gamma", "erfinv", "gammaln", "sinh", "arctanh"}) {
    const TestChain test = *single_chain(Registry::get().at(name), DType::kFloat64, 100);
    ASSERT_NE(ChainKernels::get().find(test.chain, test.inputs, 90), nullptr);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // into the first of them
}
[[noreturn]] void exit_after_a_worker() {
  std::thread(compile_many).join();
  std::exit(0);
}
[[noreturn]] void exit_from_the_thread_that_asked() {
  compile_many();
  std::exit(0);
}

TEST(CompilerAtExitDeathTest, AWorkersEndWaitsForTheCompilationUnderWay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not loaded NVRTC yet
  EXPECT_EXIT(exit_after_a_worker(), ::testing::ExitedWithCode(0), "");
}
TEST(CompilerAtExitDeathTest, SoDoesThatOfTheMainThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_from_the_thread_that_asked(), ::testing::ExitedWithCode(0), "");
}

TEST(CompileQueue, APauseWaitsForOneTaskAndEndsWhenSomebodyAsks) {
  CompileQueue queue;
  std::latch begun(1), may_end(1);
  std::atomic<int> done{0};
  queue.push([&] {
    begun.count_down();
    may_end.wait();
    ++done;
  });
  queue.push([&] { ++done; });
  begun.wait();
  std::thread helper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    may_end.count_down();
  });
  queue.pause(false);
  const int at_pause = done;
  EXPECT_GE(at_pause, 1) << "the task under way is waited for";
  helper.join();
  queue.go_on();
  queue.drain();
  EXPECT_EQ(done, 2);
  queue.pause(false);
  queue.push([&] { ++done; });
  queue.drain();
  EXPECT_EQ(done, 3) << "a push goes on";
  queue.pause(true);
  queue.push([&] { ++done; });
  queue.drain();
  EXPECT_EQ(done, 3) << "for good";
}

TEST(CompileQueue, AForkedChildEndsAlthoughATaskWasUnderWay) {
  CompileQueue queue;
  std::latch begun(1), may_end(1);
  queue.push([&] {
    begun.count_down();
    may_end.wait();
  });
  begun.wait();
  const pid_t child = fork();
  if (child == 0) {
    end_if_it_hangs();
    queue.pause(true);
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  may_end.count_down();
}

}  // namespace
}  // namespace mxnet::testing
