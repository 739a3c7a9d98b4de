// SPDX-License-Identifier: Apache-2.0
// A process forks while its other threads are anywhere inside the library: the child works.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fork_under_load.h"
#include "handles.h"
#include "hang.h"
#include "mxnet/c_api_ext.h"

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
int status_of_child(const std::function<pid_t()>& fork = ::fork) {
  const pid_t child = fork();
  if (child == 0) {
    end_if_it_hangs();
    work();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(Fork, AChildWorksWhateverOtherThreadsWereDoing) {
  constexpr int kForks = 100, kThreads = 3;
  const auto settle = [] { EXPECT_EQ(MXNDArrayWaitAll(), 0) << MXGetLastError(); };
  std::atomic<bool> stop{false};
  ForkBesideSteps load;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      while (!stop) load.step(work);
    });
  }
  for (int i = 0, status = 0; i < kForks && status == 0; ++i) {
    status = status_of_child([&] { return load.fork(settle); });
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

// Functions of an operation may call anything: a fork waits for their end, and they not for it.
TEST(ForkDeathTest, AnOperationMakesTheFirstHandleOfAKindDuringAFork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process without such handles yet
  static std::atomic<bool> forks{false};
  static const MXContext cpu = {1, 0};
  const auto make = [](void*, void* made) {
    while (!forks) std::this_thread::yield();
    // The handlers of the library come behind this test's.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    RecordIOHandle writer = nullptr;
    *static_cast<bool*>(made) = MXRecordIOWriterCreate("/dev/null", &writer) == 0;
  };
  EXPECT_EXIT(
      {
        end_if_it_hangs();
        ::pthread_atfork([] { forks = true; }, nullptr, nullptr);
        bool made = false;
        MXEnginePushSync(make, &made, nullptr, &cpu, nullptr, 0, nullptr, 0);
        const int status = status_of_child();
        ::_exit(status == 0 && made ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// A thread in memory of one's own: two that have the same memory have the same pthread_self().
class ThreadIn {
 public:
  ThreadIn(void* stack, std::size_t bytes, std::function<void()> work) : work_(std::move(work)) {
    pthread_attr_t attributes;
    EXPECT_EQ(::pthread_attr_init(&attributes), 0);
    EXPECT_EQ(::pthread_attr_setstack(&attributes, stack, bytes), 0);
    EXPECT_EQ(::pthread_create(&id, &attributes, run, this), 0);
    ::pthread_attr_destroy(&attributes);
  }
  ~ThreadIn() { ::pthread_join(id, nullptr); }
  ThreadIn(const ThreadIn&) = delete;
  ThreadIn& operator=(const ThreadIn&) = delete;
  pthread_t id = 0;

 private:
  static void* run(void* self) {
    static_cast<ThreadIn*>(self)->work_();
    return nullptr;
  }
  const std::function<void()> work_;
};

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
  std::vector<char> stack(std::size_t{4} << 20);
  std::optional<ThreadIn> pusher(std::in_place, stack.data(), stack.size(), [&] {
    EXPECT_EQ(MXKVStorePush(store, 1, &key, &array, 0), 0) << MXGetLastError();
  });
  turn.begun.get_future().wait();
  const pid_t child = ::fork();
  if (child == 0) {
    end_if_it_hangs();
    const auto expect_error = [&] {
      EXPECT_EQ(MXKVStorePush(store, 1, &key, &array, 0), -1);
      EXPECT_TRUE(error_has("when this process was forked")) << MXGetLastError();
    };
    expect_error();
    // Nor is a new thread that has the memory, and so the name, of the one that is gone.
    EXPECT_EQ(ThreadIn(stack.data(), stack.size(), expect_error).id, pusher->id);
    EXPECT_EQ(MXKVStorePush(other, 1, &key, &array, 0), 0) << MXGetLastError();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  turn.end.set_value();
  pusher.reset();
  for (KVStoreHandle each : {store, other}) EXPECT_EQ(MXKVStoreFree(each), 0) << MXGetLastError();
}

// The thread that forks goes on in the child with the call that it was in, longer than others would
// wait for one that is gone.
TEST(Fork, ACallThatForkedKeepsItsTurnInTheChild) {
  const int key = 0;
  const Array value(Values{1, 2});
  NDArrayHandle array = value.get();
  KVStoreHandle store = nullptr;
  ASSERT_EQ(MXKVStoreCreate("local", &store), 0) << MXGetLastError();
  ASSERT_EQ(MXKVStoreInit(store, 1, &key, &array), 0) << MXGetLastError();
  const auto fork_inside = [](int, NDArrayHandle pushed, NDArrayHandle stored, void* of) {
    const Array from(pushed), to(stored);
    const pid_t child = ::fork();
    if (child == 0) {
      end_if_it_hangs();
      std::atomic<bool> begun{false};
      std::thread other([&] {
        int number = 0;
        const Array out(Values{0, 0});
        NDArrayHandle pulled = out.get();
        begun = true;
        EXPECT_EQ(MXKVStorePull(of, 1, &number, &pulled, 0), 0) << MXGetLastError();
      });
      while (!begun) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      // Its turn comes when this call ends, with this process.
      other.detach();
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  };
  ASSERT_EQ(MXKVStoreSetUpdater(store, fork_inside, store), 0) << MXGetLastError();
  EXPECT_EQ(MXKVStorePush(store, 1, &key, &array, 0), 0) << MXGetLastError();
  EXPECT_EQ(MXKVStoreFree(store), 0) << MXGetLastError();
}

}  // namespace
}  // namespace mxnet::c_test
