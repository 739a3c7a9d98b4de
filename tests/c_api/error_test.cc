// SPDX-License-Identifier: Apache-2.0
// The error text of a thread, and what the guard makes of everything that can be thrown.
#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "c_api/guard.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"

namespace mxnet::c_api {
namespace {

TEST(LastError, IsEmptyOnANewThread) {
  std::thread([] { EXPECT_STREQ(MXGetLastError(), ""); }).join();
}

TEST(LastError, IsSharedByBothPrefixesAndSettable) {
  NNAPISetLastError("set by hand");
  EXPECT_STREQ(MXGetLastError(), "set by hand");
  EXPECT_STREQ(NNGetLastError(), "set by hand");
  NNAPISetLastError(nullptr);
  EXPECT_STREQ(MXGetLastError(), "");
}

TEST(LastError, BelongsToTheThread) {
  NNAPISetLastError("mine");
  std::thread([] {
    EXPECT_EQ(MXGetVersion(nullptr), -1);
    EXPECT_NE(std::string(MXGetLastError()).find("MXGetVersion"), std::string::npos);
  }).join();
  EXPECT_STREQ(MXGetLastError(), "mine");
}

TEST(LastError, StaysAfterASuccess) {
  EXPECT_EQ(MXGetVersion(nullptr), -1);
  const std::string text = MXGetLastError();
  int version = 0;
  EXPECT_EQ(MXGetVersion(&version), 0);
  EXPECT_EQ(MXGetLastError(), text);
}

TEST(Guard, ErrorGivesItsText) {
  EXPECT_EQ(guarded([] { throw Error(ErrorCode::kIndex, "take", "given 7, expected below 5"); }),
            -1);
  EXPECT_STREQ(MXGetLastError(), "MXNetError: [take] given 7, expected below 5");
  EXPECT_STREQ(MXGetLastTypedError(), "IndexError: [take] given 7, expected below 5");
}

// The class by which programs of 1.x tell that a function is not there.
TEST(Guard, WhatIsNotThereKeepsItsClass) {
  EXPECT_EQ(guarded([] { throw Error(ErrorCode::kNotImplemented, "f", "not there"); }), -1);
  EXPECT_STREQ(MXGetLastError(), "NotImplementedError: [f] not there");
  EXPECT_STREQ(MXGetLastTypedError(), MXGetLastError());
}

TEST(Guard, OtherExceptionsAreMXNetErrors) {
  EXPECT_EQ(guarded([] { throw std::runtime_error("odd"); }), -1);
  EXPECT_STREQ(MXGetLastError(), "MXNetError: odd");
  EXPECT_EQ(guarded([] { throw std::bad_alloc(); }), -1);
  EXPECT_STREQ(MXGetLastError(), "MXNetError: out of host memory");
  EXPECT_EQ(guarded([] { throw 5; }), -1);
  EXPECT_STREQ(MXGetLastError(), "MXNetError: an exception of unknown type");
}

TEST(Guard, SuccessIsZero) {
  bool ran = false;
  EXPECT_EQ(guarded([&] { ran = true; }), 0);
  EXPECT_TRUE(ran);
}

TEST(Guard, CancellingAThreadInsideACallDoesNotEndTheProcess) {
  pthread_t thread;
  ASSERT_EQ(::pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  guarded([] {
                    ::pthread_cancel(::pthread_self());
                    ::pthread_testcancel();
                  });
                  return nullptr;
                },
                nullptr),
            0);
  void* result = nullptr;
  ::pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

TEST(Guard, ADetachedThreadMayEndInsideACall) {
  static std::promise<void> gone;
  std::thread([] {
    struct End {
      ~End() { gone.set_value(); }
    };
    thread_local const End at_end_of_thread;
    static_cast<void>(at_end_of_thread);
    guarded([] { ::pthread_exit(nullptr); });
  }).detach();
  gone.get_future().wait();
}

TEST(Guard, StackTraceFollowsWhenAskedFor) {
  ASSERT_EQ(MXSetEnv("DMLC_LOG_STACK_TRACE_DEPTH", "4"), 0) << MXGetLastError();
  EXPECT_EQ(MXGetVersion(nullptr), -1);
  const std::string text = MXGetLastError();
  EXPECT_EQ(text.rfind("MXNetError: [MXGetVersion] ", 0), 0U) << text;
  EXPECT_NE(text.find("\nStack trace:\n  [bt] (0) "), std::string::npos) << text;
  EXPECT_EQ(MXSetEnv("DMLC_LOG_STACK_TRACE_DEPTH", nullptr), 0);
  EXPECT_EQ(MXGetVersion(nullptr), -1);
  EXPECT_EQ(std::string(MXGetLastError()).find("Stack trace"), std::string::npos);
}

// Each in a fresh process, whose first call finds the bad value.
class FirstCallDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void expect_start_to_fail(const char* name, const char* value) {
  ::setenv(name, value, 1);
  int out = 17;
  for (int i = 0; i < 2; ++i) {  // and it stays so
    if (MXGetVersion(&out) != -1 || out != 17) ::_exit(2);
    if (MXGetGPUCount(&out) != -1 || out != 17) ::_exit(3);
  }
  ::fprintf(stderr, "%s\n", MXGetLastError());
  ::_exit(0);
}

TEST_F(FirstCallDeathTest, BadValueFailsAndNamesTheVariable) {
  EXPECT_EXIT(expect_start_to_fail("MXNET_ENGINE_TYPE", "Foo"), testing::ExitedWithCode(0),
              "MXNetError: .*MXNET_ENGINE_TYPE.*Foo.*ThreadedEnginePerDevice");
  EXPECT_EXIT(expect_start_to_fail("OMP_NUM_THREADS", "-3"), testing::ExitedWithCode(0),
              "MXNetError: .*OMP_NUM_THREADS.*-3");
}

void push_without_a_library() {
  ::setenv("MXNET_ENGINE_TYPE", "Foo", 1);
  int deleted = 0;
  const MXContext cpu = {1, 0};
  const int result =
      MXEnginePushSync([](void*, void*) {}, &deleted, [](void* p) { ++*static_cast<int*>(p); },
                       &cpu, nullptr, 0, nullptr, 0);
  ::_exit(result == -1 && deleted == 1 ? 0 : 1);
}

TEST_F(FirstCallDeathTest, DeleterRunsEvenWhenTheLibraryDoesNotStart) {
  EXPECT_EXIT(push_without_a_library(), testing::ExitedWithCode(0), "");
}

TEST_F(FirstCallDeathTest, InstallsTheSignalHandler) {
  EXPECT_EXIT(
      {
        int version = 0;
        MXGetVersion(&version);
        ::raise(SIGSEGV);
      },
      [](int status) { return status != 0; }, "Fatal error: SIGSEGV");
}

}  // namespace
}  // namespace mxnet::c_api
