// SPDX-License-Identifier: Apache-2.0
// Extension libraries through the C ABI: the examples' operators, run on arrays' own memory, by
// threads at the same time, and loaded by several at once.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/c_api.h"
#include "paths.h"

namespace {

class Extension : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(MXLoadLib(mxnet::test_path("example_operators").c_str(), 0), 0) << MXGetLastError();
    ASSERT_EQ(MXLoadLib(mxnet::test_path("example_graphs").c_str(), 0), 0) << MXGetLastError();
  }
};

NDArrayHandle matrix(int64_t rows, int64_t columns, float first) {
  const int64_t shape[] = {rows, columns};
  NDArrayHandle array = nullptr;
  EXPECT_EQ(MXNDArrayCreateEx64(shape, 2, 1, 0, 0, 0, &array), 0) << MXGetLastError();
  std::vector<float> values(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
  EXPECT_EQ(MXNDArraySyncCopyFromCPU(array, values.data(), values.size()), 0) << MXGetLastError();
  return array;
}

std::vector<float> values_of(NDArrayHandle array, size_t count) {
  std::vector<float> values(count);
  EXPECT_EQ(MXNDArraySyncCopyToCPU(array, values.data(), count), 0) << MXGetLastError();
  return values;
}

// The result of an operator on arrays, which are freed; null where it fails.
NDArrayHandle call(const char* name, std::vector<NDArrayHandle> inputs) {
  AtomicSymbolCreator op = nullptr;
  EXPECT_EQ(NNGetOpHandle(name, &op), 0) << MXGetLastError();
  int count = 0;
  NDArrayHandle* outputs = nullptr;
  const int status = MXImperativeInvoke(op, static_cast<int>(inputs.size()), inputs.data(), &count,
                                        &outputs, 0, nullptr, nullptr);
  NDArrayHandle result = status == 0 ? outputs[0] : nullptr;
  for (NDArrayHandle input : inputs) EXPECT_EQ(MXNDArrayFree(input), 0);
  return result;
}

TEST_F(Extension, OperatorComputes) {
  NDArrayHandle result = call("example_gemm", {matrix(2, 2, 1), matrix(2, 2, 5)});
  ASSERT_NE(result, nullptr) << MXGetLastError();
  EXPECT_EQ(values_of(result, 4), (std::vector<float>{19, 22, 43, 50}));
  EXPECT_EQ(MXNDArrayFree(result), 0);
}

TEST_F(Extension, ErrorsAreTheExtensionsText) {
  EXPECT_EQ(call("example_gemm", {matrix(2, 3, 0), matrix(2, 3, 0)}), nullptr);
  EXPECT_NE(std::string(MXGetLastError()).find("as many columns"), std::string::npos)
      << MXGetLastError();
}

TEST_F(Extension, OperatorsAreListed) {
  uint32_t count = 0;
  const char** names = nullptr;
  ASSERT_EQ(MXListAllOpNames(&count, &names), 0);
  int found = 0;
  for (uint32_t i = 0; i < count; ++i) found += std::string(names[i]).rfind("example_", 0) == 0;
  EXPECT_EQ(found, 4);
}

TEST_F(Extension, ThreadsRunOperatorsSideBySide) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 50; ++i) {
        NDArrayHandle product = call("example_gemm", {matrix(2, 2, 1), matrix(2, 2, 5)});
        EXPECT_EQ(values_of(product, 4), (std::vector<float>{19, 22, 43, 50}));
        EXPECT_EQ(MXNDArrayFree(product), 0);
        NDArrayHandle counted = call("example_counter", {matrix(1, 2, 0)});
        EXPECT_EQ(values_of(counted, 2)[0], 0);
        EXPECT_EQ(MXNDArrayFree(counted), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Extension, LoadingAgainFromThreadsChangesNothing) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      EXPECT_EQ(MXLoadLib(mxnet::test_path("example_operators").c_str(), 0), 0) << MXGetLastError();
      void* op = nullptr;
      EXPECT_EQ(NNGetOpHandle("example_gemm", &op), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Extension, PassGivesParametersOfItsOwn) {
  SymbolHandle data = nullptr, halved = nullptr;
  ASSERT_EQ(MXSymbolCreateVariable("x", &data), 0);
  int args = -1, states = -1;
  NDArrayHandle *arrays = nullptr, *state_arrays = nullptr;
  char **names = nullptr, **state_names = nullptr;
  ASSERT_EQ(MXOptimizeForBackend(data, "example_half", 1, &halved, 0, nullptr, 0, nullptr, 0,
                                 nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr,
                                 nullptr, 0, nullptr, nullptr, false, &args, &arrays, &names,
                                 &states, &state_arrays, &state_names),
            0)
      << MXGetLastError();
  ASSERT_EQ(args, 1);
  EXPECT_EQ(states, 0);
  EXPECT_STREQ(names[0], "x_factor");
  EXPECT_EQ(values_of(arrays[0], 1), std::vector<float>{0.5F});
  EXPECT_EQ(MXNDArrayFree(arrays[0]), 0);
  EXPECT_EQ(MXSymbolFree(halved), 0);
  EXPECT_EQ(MXSymbolFree(data), 0);
}

TEST_F(Extension, LibrariesThatAreNoneAreRefused) {
  EXPECT_NE(MXLoadLib("/nowhere/libnothing.so", 0), 0);
  Dl_info info{};
  ASSERT_NE(::dladdr(reinterpret_cast<const void*>(&std::atoi), &info), 0);
  EXPECT_NE(MXLoadLib(info.dli_fname, 0), 0);
  EXPECT_NE(std::string(MXGetLastError()).find("lib_api.h"), std::string::npos) << MXGetLastError();
}

}  // namespace
