// SPDX-License-Identifier: Apache-2.0
// Operations of other frameworks' hooks, which name arrays instead of variables.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"

namespace {

const MXContext kCpu = {1, 0};

// Two elements of float32.
struct Array {
  explicit Array(float value) {
    const uint32_t shape[] = {2};
    EXPECT_EQ(MXNDArrayCreate(shape, 1, 1, 0, 0, &handle), 0) << MXGetLastError();
    const float values[] = {value, value};
    EXPECT_EQ(MXNDArraySyncCopyFromCPU(handle, values, 2), 0) << MXGetLastError();
    void* at = nullptr;
    EXPECT_EQ(MXNDArrayGetData(handle, &at), 0) << MXGetLastError();
    data = static_cast<float*>(at);
  }
  ~Array() { EXPECT_EQ(MXNDArrayFree(handle), 0) << MXGetLastError(); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  float first() const {
    float values[2] = {};
    EXPECT_EQ(MXNDArraySyncCopyToCPU(handle, values, 2), 0) << MXGetLastError();
    return values[0];
  }
  NDArrayHandle handle = nullptr;
  float* data = nullptr;
};

// An allreduce among one: to += from, on a thread of its own if there is `finish`.
struct Sum {
  const float* from;
  float* to;
  std::promise<MXEngineOnComplete> finish;
  bool deleted = false;
};
void add(void*, void* param) {
  auto* sum = static_cast<Sum*>(param);
  for (int i = 0; i < 2; ++i) sum->to[i] += sum->from[i];
}
void add_later(void*, void* on_complete, void* param) {
  static_cast<Sum*>(param)->finish.set_value(*static_cast<MXEngineOnComplete*>(on_complete));
}
void forget(void* param) { static_cast<Sum*>(param)->deleted = true; }

TEST(EngineArrays, SynchronousOperationsRunInTheOrderOfTheirArrays) {
  Array a(1), b(10);
  Sum forth{a.data, b.data, {}}, back{b.data, a.data, {}};
  for (Sum* sum : {&forth, &back}) {
    Array &from = sum == &forth ? a : b, &to = sum == &forth ? b : a;
    ASSERT_EQ(MXEnginePushSyncND(add, sum, forget, &kCpu, &from.handle, 1, &to.handle, 1, nullptr,
                                 0, "allreduce"),
              0)
        << MXGetLastError();
  }
  EXPECT_EQ(b.first(), 11);
  EXPECT_EQ(a.first(), 12);
  ASSERT_EQ(MXNDArrayWaitAll(), 0);
  EXPECT_TRUE(forth.deleted && back.deleted);
}

TEST(EngineArrays, WhatReadsAnArrayWaitsForTheEndOfAnAsynchronousOperation) {
  Array a(1), b(10), c(100);
  Sum slow{a.data, b.data, {}}, next{b.data, c.data, {}};
  ASSERT_EQ(MXEnginePushAsyncND(add_later, &slow, nullptr, &kCpu, &a.handle, 1, &b.handle, 1), 0)
      << MXGetLastError();
  ASSERT_EQ(MXEnginePushSyncND(add, &next, nullptr, &kCpu, &b.handle, 1, &c.handle, 1), 0);
  std::thread network([&, done = slow.finish.get_future().get()] {
    add(nullptr, &slow);
    EXPECT_EQ(MXEngineComplete(&done, nullptr), 0);
  });
  EXPECT_EQ(c.first(), 111);
  network.join();
}

TEST(EngineArrays, AFailureIsThatOfTheWrittenArray) {
  Array a(1), b(10);
  Sum sum{a.data, b.data, {}};
  ASSERT_EQ(MXEnginePushAsyncND(add_later, &sum, nullptr, &kCpu, &a.handle, 1, &b.handle, 1), 0);
  const MXEngineOnComplete done = sum.finish.get_future().get();
  ASSERT_EQ(MXEngineComplete(&done, "rank 3 is lost"), 0);
  float values[2];
  EXPECT_EQ(MXNDArraySyncCopyToCPU(b.handle, values, 2), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("rank 3 is lost"), std::string::npos);
  EXPECT_EQ(MXNDArraySyncCopyToCPU(a.handle, values, 2), 0) << MXGetLastError();
}

TEST(EngineArrays, AnArrayThatIsReadAndWrittenIsWritten) {
  Array a(3);
  Sum twice{a.data, a.data, {}};
  ASSERT_EQ(MXEnginePushSyncND(add, &twice, nullptr, &kCpu, &a.handle, 1, &a.handle, 1), 0)
      << MXGetLastError();
  EXPECT_EQ(a.first(), 6);
}

TEST(EngineArrays, AnArrayWithoutDataIsAnErrorAndTheParameterIsStillDeleted) {
  Array a(3);
  NDArrayHandle none = nullptr;
  ASSERT_EQ(MXNDArrayCreateNone(&none), 0);
  for (const bool reads : {true, false}) {
    for (const bool asynchronous : {true, false}) {
      Sum sum{a.data, a.data, {}};
      NDArrayHandle *in = reads ? &none : &a.handle, *out = reads ? &a.handle : &none;
      const int result = asynchronous
                             ? MXEnginePushAsyncND(add_later, &sum, forget, &kCpu, in, 1, out, 1)
                             : MXEnginePushSyncND(add, &sum, forget, &kCpu, in, 1, out, 1);
      EXPECT_EQ(result, -1);
      EXPECT_NE(std::string(MXGetLastError()).find("without"), std::string::npos)
          << MXGetLastError();
      EXPECT_TRUE(sum.deleted);
    }
  }
  EXPECT_EQ(a.first(), 3);
  EXPECT_EQ(MXNDArrayFree(none), 0);
}

}  // namespace
