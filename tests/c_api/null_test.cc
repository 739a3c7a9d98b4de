// SPDX-License-Identifier: Apache-2.0
// One null among good arguments, and numbers that make no sense: an error that names the function.
// What is wrong in every place is for function_probe_test.cc.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "null_calls.h"

namespace {

const MXContext kCpu = {1, 0};
int g_int = 0;
uint64_t g_bytes = 0;
const char* g_text = nullptr;
const void* g_values = nullptr;
const LibFeature* g_features = nullptr;
EngineVarHandle g_null_variable = nullptr;
const int32_t kBadProperty = 99;

void nothing(void*, void*) {}
void nothing_async(void*, void*, void*) {}

int set_value_with(const char* key, const char* value) {
  FunctionHandle function = nullptr;
  EXPECT_EQ(MXGetFunction("_set_value", &function), 0);
  float number = 1;
  NDArrayHandle array = nullptr;
  char *keys = const_cast<char*>(key), *values = const_cast<char*>(value);
  return MXFuncInvokeEx(function, nullptr, &number, &array, 1, &keys, &values);
}

using Call = NullCall;

// The one pointer that is null, or the number that makes no sense, in the order of the parameters.
const std::multimap<std::string, Call>& calls() {
  static std::multimap<std::string, Call> all = {
      {"MXGetVersion", [] { return MXGetVersion(nullptr); }},
      {"MXLibInfoFeatures", [] { return MXLibInfoFeatures(nullptr, nullptr); }},
      {"MXLibInfoFeatures", [] { return MXLibInfoFeatures(&g_features, nullptr); }},
      {"MXSetEnv", [] { return MXSetEnv(nullptr, "1"); }},
      {"MXSetEnv", [] { return MXSetEnv(nullptr, nullptr); }},
      {"MXGetEnv", [] { return MXGetEnv(nullptr, &g_text); }},
      {"MXGetEnv", [] { return MXGetEnv("HOME", nullptr); }},
      {"MXSetNumOMPThreads", [] { return MXSetNumOMPThreads(-1); }},
      {"MXGetGPUCount", [] { return MXGetGPUCount(nullptr); }},
      {"MXGetGPUMemoryInformation", [] { return MXGetGPUMemoryInformation(0, nullptr, &g_int); }},
      {"MXGetGPUMemoryInformation", [] { return MXGetGPUMemoryInformation(0, &g_int, nullptr); }},
      {"MXGetGPUMemoryInformation64",
       [] { return MXGetGPUMemoryInformation64(0, nullptr, &g_bytes); }},
      {"MXGetGPUMemoryInformation64",
       [] { return MXGetGPUMemoryInformation64(0, &g_bytes, nullptr); }},
      {"MXStorageEmptyCache", [] { return MXStorageEmptyCache(0, 0); }},
      {"MXEngineSetBulkSize", [] { return MXEngineSetBulkSize(1, nullptr); }},
      {"MXEngineSetBulkSize", [] { return MXEngineSetBulkSize(-1, &g_int); }},
      {"MXEnginePushSync",
       [] { return MXEnginePushSync(nullptr, nullptr, nullptr, &kCpu, nullptr, 0, nullptr, 0); }},
      {"MXEnginePushSync",
       [] { return MXEnginePushSync(nothing, nullptr, nullptr, nullptr, nullptr, 0, nullptr, 0); }},
      {"MXEnginePushSync",
       [] { return MXEnginePushSync(nothing, nullptr, nullptr, &kCpu, nullptr, 1, nullptr, 0); }},
      {"MXEnginePushSync",
       [] {
         return MXEnginePushSync(nothing, nullptr, nullptr, &kCpu, nullptr, 0, &g_null_variable, 1);
       }},
      {"MXEnginePushSync",
       [] { return MXEnginePushSync(nothing, nullptr, nullptr, &kCpu, nullptr, 0, nullptr, -1); }},
      {"MXEnginePushSync",
       [] {
         return MXEnginePushSync(nothing, nullptr, nullptr, &kCpu, nullptr, 0, nullptr, 0,
                                 &kBadProperty);
       }},
      {"MXEnginePushAsync",
       [] { return MXEnginePushAsync(nullptr, nullptr, nullptr, &kCpu, nullptr, 0, nullptr, 0); }},
      {"MXEnginePushAsync",
       [] {
         return MXEnginePushAsync(nothing_async, nullptr, nullptr, nullptr, nullptr, 0, nullptr, 0);
       }},
      {"MXEnginePushAsync",
       [] {
         return MXEnginePushAsync(nothing_async, nullptr, nullptr, &kCpu, nullptr, -5, nullptr, 0);
       }},
      {"MXEngineNewVariable", [] { return MXEngineNewVariable(nullptr); }},
      {"MXEngineDeleteVariable", [] { return MXEngineDeleteVariable(nullptr); }},
      {"MXEngineWaitForVariable", [] { return MXEngineWaitForVariable(nullptr); }},
      {"MXEngineGetVariableVersion", [] { return MXEngineGetVariableVersion(nullptr, &g_bytes); }},
      {"MXEngineComplete", [] { return MXEngineComplete(nullptr, nullptr); }},
      {"MXEngineComplete",
       [] {
         const MXEngineOnComplete empty = {nullptr, nullptr, nullptr};
         return MXEngineComplete(&empty, nullptr);
       }},
      {"MXNDArrayGetDataToRead",
       [] { return MXNDArrayGetDataToRead(nullptr, &g_values, &g_bytes); }},
      {"MXNDArrayGetDataToRead", [] { return MXNDArrayGetDataToRead(nullptr, nullptr, &g_bytes); }},
      {"MXNDArrayGetDataToRead",
       [] { return MXNDArrayGetDataToRead(nullptr, &g_values, nullptr); }},
      {"MXNDArraySyncCopyFromStrided",
       [] {
         const int64_t stride = 4;
         return MXNDArraySyncCopyFromStrided(nullptr, &stride, 0, 1, &stride, nullptr);
       }},
      {"MXNDArrayCopyFromStridedIfFree",
       [] {
         const int64_t stride = 4;
         int done = 0;
         return MXNDArrayCopyFromStridedIfFree(nullptr, &stride, 0, 1, &stride, &done);
       }},
      {"MXFuncInvokeEx", [] { return set_value_with(nullptr, "1"); }},
      {"MXFuncInvokeEx", [] { return set_value_with("src", nullptr); }},
      {"MXConfigToJSON", [] { return MXConfigToJSON(nullptr); }},
      {"MXConfigGet", [] { return MXConfigGet(nullptr, &g_text); }},
      {"MXConfigGet", [] { return MXConfigGet("MXNET_ENGINE_TYPE", nullptr); }},
      {"MXConfigSet", [] { return MXConfigSet(nullptr, "1"); }},
      {"MXStorageGetStatistics", [] { return MXStorageGetStatistics(1, 0, nullptr, 8); }},
      {"MXStorageGetTable", [] { return MXStorageGetTable(1, 0, nullptr); }},
      {"MXStorageResetPeak", [] { return MXStorageResetPeak(0, 0); }},
      {"MXGetCPUMemoryInformation", [] { return MXGetCPUMemoryInformation(nullptr, &g_bytes); }},
      {"MXGetCPUMemoryInformation", [] { return MXGetCPUMemoryInformation(&g_bytes, nullptr); }},
  };
  static const bool others = (all.merge(profiler_null_calls()), all.merge(data_null_calls()), true);
  static_cast<void>(others);
  return all;
}

TEST(Nulls, AreErrorsThatNameTheFunction) {
  for (const auto& [name, call] : calls()) {
    NNAPISetLastError("");
    EXPECT_EQ(call(), -1) << name;
    const std::string text = MXGetLastError();
    EXPECT_EQ(text.rfind("MXNetError: [" + name + "] given ", 0), 0U) << name << ": " << text;
  }
}

TEST(Nulls, OutParametersAreLeftAlone) {
  g_int = 11;
  g_bytes = 12;
  g_text = "13";
  g_features = nullptr;
  for (const auto& [name, call] : calls()) call();
  EXPECT_EQ(g_int, 11);
  EXPECT_EQ(g_bytes, 12U);
  EXPECT_STREQ(g_text, "13");
  EXPECT_EQ(g_values, nullptr);
  EXPECT_EQ(g_features, nullptr);
}

// As of a variable that nobody set; the arrays hold one text.
TEST(Counts, OfTextsThatNoCallHasAreErrors) {
  SymbolHandle x = nullptr, atomic = nullptr;
  ASSERT_EQ(MXSymbolCreateVariable("x", &x), 0);
  OpHandle ones = nullptr;
  ASSERT_EQ(NNGetOpHandle("_ones", &ones), 0);
  CachedOpHandle cached = nullptr;
  NDArrayHandle* outputs = nullptr;
  int num_outputs = 0;
  const char *key = "shape", *value = "2";
  for (const int count : {-1, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    const auto refuses = [&](int result, unsigned given) {
      const std::string text = MXGetLastError();
      return result == -1 && (text.find(fmt::format("given {} texts", count)) != text.npos ||
                              text.find(fmt::format("given {} texts", given)) != text.npos);
    };
    const auto given = static_cast<unsigned>(count);
    EXPECT_TRUE(refuses(MXCreateCachedOpEx(x, count, &key, &value, &cached), given));
    EXPECT_TRUE(refuses(MXSymbolCreateAtomicSymbol(ones, given, &key, &value, &atomic), given));
    EXPECT_TRUE(refuses(
        MXImperativeInvoke(ones, 0, nullptr, &num_outputs, &outputs, count, &key, &value), given));
    EXPECT_TRUE(refuses(MXSetProfilerConfig(count, &key, &value), given));
  }
  MXSymbolFree(x);
}

}  // namespace
