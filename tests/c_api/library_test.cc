// SPDX-License-Identifier: Apache-2.0
// Version, features, variables, threads; and that the header is what the reference exports.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "base/omp.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "signatures.h"

namespace {

TEST(Signatures, AreThoseOfTheReference) {
  // The types are static assertions of the generated file; it lists what they covered.
  EXPECT_EQ(kReferenceFunctions.size(), 295U);
  EXPECT_EQ(sizeof(LibFeature), 16U);
  EXPECT_EQ(offsetof(LibFeature, enabled), 8U);
}

TEST(Version, IsTheLevelOfTheAbi) {
  int version = 0;
  ASSERT_EQ(MXGetVersion(&version), 0) << MXGetLastError();
  EXPECT_EQ(version, 10901);
}

TEST(Features, HaveTheReferencesNamesInOrder) {
  const LibFeature* features = nullptr;
  size_t size = 0;
  ASSERT_EQ(MXLibInfoFeatures(&features, &size), 0) << MXGetLastError();
  ASSERT_EQ(size, kReferenceFeatures.size());
  for (size_t i = 0; i < size; ++i) EXPECT_EQ(features[i].name, kReferenceFeatures[i]);
}

TEST(Features, TellTheTruth) {
  const LibFeature* features = nullptr;
  size_t size = 0;
  ASSERT_EQ(MXLibInfoFeatures(&features, &size), 0);
  std::set<std::string> on;
  for (size_t i = 0; i < size; ++i) {
    if (features[i].enabled) on.insert(features[i].name);
  }
  EXPECT_TRUE(on.contains("OPENMP"));
  EXPECT_TRUE(on.contains("SIGNAL_HANDLER"));
  EXPECT_FALSE(on.contains("TVM_OP"));
  EXPECT_FALSE(on.contains("CUDNN"));
#if defined(__x86_64__)
  EXPECT_TRUE(on.contains("CPU_SSE4_2"));  // the baseline that this program is compiled for
#endif
}

TEST(Variables, LiveRowChangesWithoutTouchingTheEnvironment) {
  ASSERT_EQ(MXSetEnv("MXNET_LOG_LEVEL", "error"), 0) << MXGetLastError();
  const char* value = nullptr;
  ASSERT_EQ(MXGetEnv("MXNET_LOG_LEVEL", &value), 0);
  EXPECT_STREQ(value, "error");
  EXPECT_EQ(std::getenv("MXNET_LOG_LEVEL"), nullptr);
  ASSERT_EQ(MXConfigGet("MXNET_LOG_LEVEL", &value), 0);
  EXPECT_STREQ(value, "error");
  ASSERT_EQ(MXSetEnv("MXNET_LOG_LEVEL", nullptr), 0);
  ASSERT_EQ(MXGetEnv("MXNET_LOG_LEVEL", &value), 0);
  EXPECT_EQ(value, nullptr);
}

TEST(Variables, StartupRowCannotChange) {
  EXPECT_EQ(MXSetEnv("MXNET_ENGINE_TYPE", "NaiveEngine"), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("MXNET_ENGINE_TYPE"), std::string::npos);
}

TEST(Variables, BadValueIsAnErrorAndChangesNothing) {
  EXPECT_EQ(MXSetEnv("MXNET_LOG_LEVEL", "loud"), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("loud"), std::string::npos);
  const char* value = nullptr;
  ASSERT_EQ(MXConfigGet("MXNET_LOG_LEVEL", &value), 0);
  EXPECT_STREQ(value, "info");
}

TEST(Variables, OthersAreKeptForTheCaller) {
  ASSERT_EQ(MXSetEnv("SOMETHING_ELSE", "1"), 0) << MXGetLastError();
  const char* value = nullptr;
  ASSERT_EQ(MXGetEnv("SOMETHING_ELSE", &value), 0);
  EXPECT_STREQ(value, "1");
  ASSERT_EQ(MXGetEnv("NEVER_SET_BY_ANYBODY", &value), 0);
  EXPECT_EQ(value, nullptr);
}

TEST(Variables, TextLivesOnEachThread) {
  ASSERT_EQ(MXSetEnv("TEXT_OF_A_THREAD", "kept"), 0);
  const char* mine = nullptr;
  ASSERT_EQ(MXGetEnv("TEXT_OF_A_THREAD", &mine), 0);
  std::thread([] {
    const char* theirs = nullptr;
    ASSERT_EQ(MXConfigGet("MXNET_LOG_LEVEL", &theirs), 0);
  }).join();
  EXPECT_STREQ(mine, "kept");
}

TEST(Config, TableIsJsonWithEveryColumn) {
  const char* json = nullptr;
  ASSERT_EQ(MXConfigToJSON(&json), 0) << MXGetLastError();
  const std::string text = json;
  EXPECT_EQ(text.front(), '[');
  EXPECT_EQ(text.back(), ']');
  for (const char* key : {"\"name\":\"MXNET_ENGINE_TYPE\"", "\"default\":", "\"allowed\":",
                          "\"value\":", "\"source\":", "\"effect\":", "\"doc\":"}) {
    EXPECT_NE(text.find(key), std::string::npos) << key;
  }
}

TEST(Config, UnknownNameIsAnErrorWithTheNearest) {
  const char* value = nullptr;
  EXPECT_EQ(MXConfigGet("MXNET_ENGINE_TIPE", &value), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("MXNET_ENGINE_TYPE"), std::string::npos)
      << MXGetLastError();
  EXPECT_EQ(MXConfigSet("MXNET_ENGINE_TIPE", "x"), -1);
  EXPECT_EQ(value, nullptr);
}

TEST(OmpThreads, AreSetForTheProcess) {
  const int before = mxnet::omp_threads();
  ASSERT_EQ(MXSetNumOMPThreads(3), 0) << MXGetLastError();
  EXPECT_EQ(mxnet::omp_threads(), 3);
  EXPECT_EQ(MXSetNumOMPThreads(0), -1);
  EXPECT_EQ(mxnet::omp_threads(), 3);
  ASSERT_EQ(MXSetNumOMPThreads(before), 0);
}

}  // namespace
