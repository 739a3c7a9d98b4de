// SPDX-License-Identifier: Apache-2.0
// The profiler through the C ABI: a session from configuration to file and tables, and its handles.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "handles.h"
#include "mxnet/c_api.h"

namespace mxnet::c_test {
namespace {

using Json = nlohmann::json;

class ProfilerCalls : public testing::Test {
 protected:
  ProfilerCalls()
      : path_(testing::TempDir() + "/profile." + std::to_string(::getpid()) + ".json") {}
  ~ProfilerCalls() override {
    MXSetProfilerState(0);
    ::unlink(path_.c_str());
  }
  void configure(std::vector<std::pair<std::string, std::string>> more) const {
    more.emplace_back("filename", path_);
    more.emplace_back("continuous_dump", "False");
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : more) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    ASSERT_EQ(MXSetProcessProfilerConfig(static_cast<int>(keys.size()), keys.data(), values.data(),
                                         nullptr),
              0)
        << MXGetLastError();
  }
  void add_ones(int times) const {
    Array array(Values{1, 2, 3});
    for (int i = 0; i < times; ++i) {
      AtomicSymbolCreator add = nullptr;
      ASSERT_EQ(NNGetOpHandle("_plus_scalar", &add), 0);
      const char *key = "scalar", *value = "1";
      NDArrayHandle input = array.get();
      NDArrayHandle* outputs = nullptr;
      int count = 0;
      ASSERT_EQ(MXImperativeInvoke(add, 1, &input, &count, &outputs, 1, &key, &value), 0);
      array = Array(outputs[0]);
    }
    ASSERT_EQ(MXNDArrayWaitAll(), 0);
  }
  int count(const std::string& phase, const std::string& name) const {
    std::ifstream file(path_);
    std::stringstream text;
    text << file.rdbuf();
    const Json document = Json::parse(text.str());
    int found = 0;
    for (const Json& event : document.at("traceEvents"))
      found += event.at("ph") == phase && event.at("name") == name ? 1 : 0;
    return found;
  }

  const std::string path_;
};

TEST_F(ProfilerCalls, OperatorsCallsAndMemoryAreInTheTrace) {
  configure({{"profile_all", "True"}});
  ASSERT_EQ(MXSetProcessProfilerState(1, 0, nullptr), 0);
  add_ones(5);
  ASSERT_EQ(MXProcessProfilePause(1, 0, nullptr), 0);
  add_ones(7);
  ASSERT_EQ(MXProcessProfilePause(0, 0, nullptr), 0);
  ASSERT_EQ(MXDumpProcessProfile(1, 0, nullptr), 0) << MXGetLastError();
  EXPECT_EQ(count("B", "_plus_scalar"), 5);
  EXPECT_EQ(count("E", "_plus_scalar"), 5);
  EXPECT_EQ(count("b", "MXImperativeInvoke"), 5);
  EXPECT_EQ(count("e", "MXImperativeInvoke"), 5);
  EXPECT_GE(count("C", "Memory: cpu/0"), 5);
  EXPECT_EQ(count("b", "MXSetProcessProfilerState"), 0);
  EXPECT_EQ(MXDumpProfile(1), -1);  // it has finished
}

TEST_F(ProfilerCalls, TablesComeAsTextAndAsJson) {
  configure({{"aggregate_stats", "True"}});
  const char* text = nullptr;
  ASSERT_EQ(MXAggregateProfileStatsPrint(&text, 1), 0);
  ASSERT_EQ(MXSetProfilerState(1), 0);
  add_ones(4);
  ASSERT_EQ(MXSetProfilerState(0), 0);
  ASSERT_EQ(MXAggregateProfileStatsPrint(&text, 0), 0);
  EXPECT_NE(std::string(text).find("_plus_scalar"), std::string::npos) << text;
  ASSERT_EQ(MXAggregateProfileStatsPrintEx(&text, 1, 1, 4, 1), 0);
  const Json json = Json::parse(text);
  EXPECT_EQ(json.at("Time").at("operator").at("_plus_scalar").at("Count"), 4);
  EXPECT_EQ(json.at("Time").at("MXNET_C_API").at("MXImperativeInvoke").at("Count"), 4);
  ASSERT_EQ(MXAggregateProfileStatsPrintEx(&text, 0, 1, 0, 0), 0);
  EXPECT_TRUE(Json::parse(text).at("Time").empty());
  ASSERT_EQ(MXDumpProfile(1), 0);
}

TEST_F(ProfilerCalls, ProgramsMarkTheirOwnWork) {
  configure({});
  ProfileHandle domain, task, frame, event, counter;
  ASSERT_EQ(MXProfileCreateDomain("training", &domain), 0);
  ASSERT_EQ(MXProfileCreateTask(domain, "epoch", &task), 0);
  ASSERT_EQ(MXProfileCreateFrame(domain, "batch", &frame), 0);
  ASSERT_EQ(MXProfileCreateEvent("load", &event), 0);
  ASSERT_EQ(MXProfileCreateCounter(domain, "images", &counter), 0);
  ASSERT_EQ(MXSetProfilerState(1), 0);
  for (ProfileHandle duration : {task, frame, event}) {
    EXPECT_EQ(MXProfileDurationStart(duration), 0);
    EXPECT_EQ(MXProfileDurationStop(duration), 0);
  }
  EXPECT_EQ(MXProfileSetCounter(counter, 5), 0);
  EXPECT_EQ(MXProfileAdjustCounter(counter, -3), 0);
  for (const char* scope : {"global", "process", "thread", "task", "marker"})
    EXPECT_EQ(MXProfileSetMarker(domain, "here", scope), 0);
  ASSERT_EQ(MXDumpProfile(1), 0);
  for (const char* name : {"epoch", "batch", "load"}) {
    EXPECT_EQ(count("b", name), 1) << name;
    EXPECT_EQ(count("e", name), 1) << name;
  }
  EXPECT_EQ(count("C", "images"), 2);
  EXPECT_EQ(count("i", "here"), 5);
  // A handle of another kind, and one that is freed.
  EXPECT_EQ(MXProfileDurationStart(counter), -1);
  EXPECT_STREQ(MXGetLastError(),
               "MXNetError: [MXProfileDurationStart] given another object of the profiler, "
               "expected a task, a frame or an event");
  for (ProfileHandle handle : {task, frame, event, counter, domain})
    EXPECT_EQ(MXProfileDestroyHandle(handle), 0);
  EXPECT_EQ(MXProfileDestroyHandle(task), -1);
  EXPECT_EQ(MXProfileSetCounter(counter, 1), -1);
}

TEST_F(ProfilerCalls, ServersCannotBeProfiledYet) {
  const char *key = "profile_process", *value = "server";
  int store = 0;
  EXPECT_EQ(MXSetProcessProfilerConfig(1, &key, &value, &store), -1);
  EXPECT_EQ(std::string(MXGetLastError()).rfind("NotImplementedError: ", 0), 0U);
  EXPECT_EQ(MXSetProcessProfilerState(1, 1, &store), -1);
  EXPECT_EQ(MXSetProcessProfilerState(1, 1, nullptr), -1);
  EXPECT_EQ(std::string(MXGetLastError()).rfind("MXNetError: ", 0), 0U);
}

}  // namespace
}  // namespace mxnet::c_test
