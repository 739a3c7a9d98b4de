// SPDX-License-Identifier: Apache-2.0
// A process forks while its other threads are anywhere inside the library: the child works.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
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

// The child has no thread that would end the call.
TEST(Fork, AHandleInTheTurnOfAnotherThreadIsAnErrorOfTheChild) {
  const int key = 0;
  const Array value(Values{1, 2});
  NDArrayHandle array = value.get();
  KVStoreHandle store = nullptr, other = nullptr;
  for (KVStoreHandle* each : {&store, &other}) {
    ASSERT_EQ(MXKVStoreCreate("local", each), 0) << MXGetLastError();
    ASSERT_EQ(MXKVStoreInit(*each, 1, &key, &array), 0) << MXGetLastError();
  }
  struct Turn {
    std::promise<void> begun, end;
  } turn;
  const auto stay = [](int, NDArrayHandle pushed, NDArrayHandle stored, void* of) {
    const Array from(pushed), to(stored);
    static_cast<Turn*>(of)->begun.set_value();
    static_cast<Turn*>(of)->end.get_future().wait();
  };
  ASSERT_EQ(MXKVStoreSetUpdater(store, stay, &turn), 0) << MXGetLastError();
  std::thread pusher(
      [&] { EXPECT_EQ(MXKVStorePush(store, 1, &key, &array, 0), 0) << MXGetLastError(); });
  turn.begun.get_future().wait();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    EXPECT_EQ(MXKVStorePush(store, 1, &key, &array, 0), -1);
    EXPECT_TRUE(error_has("when this process was forked")) << MXGetLastError();
    EXPECT_EQ(MXKVStorePush(other, 1, &key, &array, 0), 0) << MXGetLastError();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  turn.end.set_value();
  pusher.join();
  for (KVStoreHandle each : {store, other}) EXPECT_EQ(MXKVStoreFree(each), 0) << MXGetLastError();
}

}  // namespace
}  // namespace mxnet::c_test
