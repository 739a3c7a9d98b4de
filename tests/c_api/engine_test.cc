// SPDX-License-Identifier: Apache-2.0
// Functions of a C or C++ program as operations of the engine.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headers_c99.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"

namespace {

const MXContext kCpu = {1, 0};

// A variable that is deleted at the end of the test.
class Variable {
 public:
  Variable() { EXPECT_EQ(MXEngineNewVariable(&handle), 0) << MXGetLastError(); }
  ~Variable() { EXPECT_EQ(MXEngineDeleteVariable(handle), 0) << MXGetLastError(); }
  int wait() const { return MXEngineWaitForVariable(handle); }
  uint64_t version() const {
    uint64_t version = 0;
    EXPECT_EQ(MXEngineGetVariableVersion(handle, &version), 0) << MXGetLastError();
    return version;
  }
  EngineVarHandle handle = nullptr;
};

struct Record {
  std::atomic<int> runs{0};
  std::atomic<int> deletes{0};
};
void run(void*, void* param) { ++static_cast<Record*>(param)->runs; }
void forget(void* param) { ++static_cast<Record*>(param)->deletes; }
void fail(void*, void*) { throw std::runtime_error("broken on purpose"); }

int push(EngineSyncFunc function, void* param, EngineFuncParamDeleter deleter,
         EngineVarHandle* reads, int read_count, EngineVarHandle* writes, int write_count,
         const char* name = nullptr) {
  return MXEnginePushSync(function, param, deleter, &kCpu, reads, read_count, writes, write_count,
                          nullptr, 0, name);
}

TEST(Engine, RunsAFunctionOnceAndDeletesItsParameterOnce) {
  Variable v;
  Record record;
  ASSERT_EQ(push(run, &record, forget, nullptr, 0, &v.handle, 1, "run"), 0) << MXGetLastError();
  ASSERT_EQ(v.wait(), 0) << MXGetLastError();
  ASSERT_EQ(MXNDArrayWaitAll(), 0);
  EXPECT_EQ(record.runs, 1);
  EXPECT_EQ(record.deletes, 1);
  EXPECT_EQ(v.version(), 1U);
}

TEST(Engine, ServesAProgramWrittenInC) { EXPECT_EQ(run_from_c(20), 42); }

TEST(Engine, OperationsOnAVariableKeepTheirOrder) {
  Variable v;
  struct Step {
    std::vector<int>* order;
    int number;
  };
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(push(
                  [](void*, void* p) {
                    static_cast<Step*>(p)->order->push_back(static_cast<Step*>(p)->number);
                  },
                  new Step{&order, i}, [](void* p) { delete static_cast<Step*>(p); }, nullptr, 0,
                  &v.handle, 1),
              0);
  }
  ASSERT_EQ(v.wait(), 0);
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_EQ(v.version(), 100U);
}

TEST(Engine, SeveralVariablesAreAnArrayOfHandles) {
  Variable a, b, c;
  Record record;
  EngineVarHandle reads[] = {a.handle, b.handle};
  ASSERT_EQ(push(run, &record, nullptr, reads, 2, &c.handle, 1), 0) << MXGetLastError();
  ASSERT_EQ(c.wait(), 0);
  EXPECT_EQ(record.runs, 1);
  EXPECT_EQ(a.version(), 0U);
  EXPECT_EQ(c.version(), 1U);
}

TEST(Engine, DuplicateVariableIsAnErrorAndTheParameterIsStillDeleted) {
  Variable v;
  Record record;
  EXPECT_EQ(push(run, &record, forget, &v.handle, 1, &v.handle, 1), -1);
  EXPECT_EQ(std::string(MXGetLastError()).rfind("MXNetError: ", 0), 0U) << MXGetLastError();
  ASSERT_EQ(MXNDArrayWaitAll(), 0);
  EXPECT_EQ(record.runs, 0);
  EXPECT_EQ(record.deletes, 1);
}

TEST(Engine, FailureComesOutOfTheWaitOnce) {
  Variable v;
  ASSERT_EQ(push(fail, nullptr, nullptr, nullptr, 0, &v.handle, 1, "fail"), 0) << MXGetLastError();
  EXPECT_EQ(v.wait(), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("broken on purpose"), std::string::npos)
      << MXGetLastError();
  EXPECT_EQ(v.wait(), 0);
}

TEST(Engine, SkippedOperationStillDeletesItsParameter) {
  Variable broken, out;
  Record record;
  ASSERT_EQ(push(fail, nullptr, nullptr, nullptr, 0, &broken.handle, 1), 0);
  ASSERT_EQ(push(run, &record, forget, &broken.handle, 1, &out.handle, 1), 0);
  EXPECT_EQ(MXNDArrayWaitAll(), -1);
  EXPECT_EQ(record.runs, 0);
  EXPECT_EQ(record.deletes, 1);
  EXPECT_EQ(MXNDArrayWaitAll(), 0);
}

TEST(Engine, AsynchronousOperationEndsFromAnotherThread) {
  Variable v;
  std::promise<MXEngineOnComplete> started;
  ASSERT_EQ(MXEnginePushAsync(
                [](void*, void* on_complete, void* param) {
                  static_cast<std::promise<MXEngineOnComplete>*>(param)->set_value(
                      *static_cast<MXEngineOnComplete*>(on_complete));
                },
                &started, nullptr, &kCpu, nullptr, 0, &v.handle, 1),
            0)
      << MXGetLastError();
  std::thread other(
      [done = started.get_future().get()] { EXPECT_EQ(MXEngineComplete(&done, nullptr), 0); });
  EXPECT_EQ(v.wait(), 0) << MXGetLastError();
  other.join();
  EXPECT_EQ(v.version(), 1U);
}

TEST(Engine, AsynchronousOperationCanFail) {
  Variable v;
  ASSERT_EQ(MXEnginePushAsync(
                [](void*, void* on_complete, void*) {
                  MXEngineComplete(static_cast<MXEngineOnComplete*>(on_complete),
                                   "the network is down");
                },
                nullptr, nullptr, &kCpu, nullptr, 0, &v.handle, 1, nullptr, 0, "receive", true),
            0);
  EXPECT_EQ(v.wait(), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("the network is down"), std::string::npos)
      << MXGetLastError();
}

TEST(Engine, ProgramsOfMxnetCallTheCallbackObject) {
  // What `(*static_cast<CallbackOnComplete*>(p))(nullptr)` of the reference's headers compiles to.
  Variable v;
  ASSERT_EQ(MXEnginePushAsync(
                [](void*, void* on_complete, void*) {
                  const auto done = *static_cast<MXEngineOnComplete*>(on_complete);
                  done.callback(done.engine, done.param, nullptr);
                },
                nullptr, nullptr, &kCpu, nullptr, 0, &v.handle, 1),
            0);
  EXPECT_EQ(v.wait(), 0) << MXGetLastError();
}

TEST(Engine, FunctionSeesItsContext) {
  Variable v;
  MXContext seen = {0, 0};
  ASSERT_EQ(
      push([](void* context,
              void* param) { *static_cast<MXContext*>(param) = *static_cast<MXContext*>(context); },
           &seen, nullptr, nullptr, 0, &v.handle, 1),
      0);
  ASSERT_EQ(v.wait(), 0);
  EXPECT_EQ(seen.dev_type, 1);
  EXPECT_EQ(seen.dev_id, 0);
}

TEST(Engine, PropertyThatRunsDespiteAFailureRuns) {
  Variable broken, out;
  Record record;
  const int32_t no_skip = 7;
  ASSERT_EQ(push(fail, nullptr, nullptr, nullptr, 0, &broken.handle, 1), 0);
  ASSERT_EQ(
      MXEnginePushSync(run, &record, nullptr, &kCpu, &broken.handle, 1, &out.handle, 1, &no_skip),
      0);
  EXPECT_EQ(MXNDArrayWaitAll(), -1);
  EXPECT_EQ(record.runs, 1);
}

TEST(Engine, BulkSizeIsReturnedAndBelongsToTheThread) {
  int previous = -1;
  ASSERT_EQ(MXEngineSetBulkSize(15, &previous), 0) << MXGetLastError();
  std::thread([] {
    int theirs = -1;
    ASSERT_EQ(MXEngineSetBulkSize(0, &theirs), 0);
    EXPECT_NE(theirs, 15);
  }).join();
  int mine = -1;
  ASSERT_EQ(MXEngineSetBulkSize(previous, &mine), 0);
  EXPECT_EQ(mine, 15);
}

TEST(EngineDeathTest, WorksOnAfterShutdown) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const bool before = run_from_c(20) == 42;
        const bool ended = MXNotifyShutdown() == 0 && MXNotifyShutdown() == 0;
        ::_exit(before && ended && run_from_c(1) == 4 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// What Python's interpreter, once it is ending, does with a thread that asks for its lock.
std::promise<void> g_inside;
void end_this_thread() {
  g_inside.set_value();
  ::pthread_exit(nullptr);
}

// Ends the process by 7 if it is still there a while after a thread has called `body`.
[[noreturn]] void outlive(void (*body)()) {
  std::thread(body).detach();
  g_inside.get_future().wait();
  ::usleep(100'000);
  ::_exit(7);
}

TEST(EngineDeathTest, AThreadThatEndsInAFunctionStaysThere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(outlive([] {
                MXEnginePushSync([](void*, void*) { end_this_thread(); }, nullptr, nullptr, &kCpu,
                                 nullptr, 0, nullptr, 0, nullptr, 0, nullptr);
                MXNDArrayWaitAll();
              }),
              testing::ExitedWithCode(7), "");
}

TEST(EngineDeathTest, AThreadThatEndsInADeleterStaysThere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(outlive([] {
                MXEnginePushSync([](void*, void*) {}, nullptr, [](void*) { end_this_thread(); },
                                 &kCpu, nullptr, 0, nullptr, 0, nullptr, 0, nullptr);
              }),
              testing::ExitedWithCode(7), "");
}

}  // namespace
