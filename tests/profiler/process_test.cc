// SPDX-License-Identifier: Apache-2.0
// What a process leaves behind: by its environment, at its exit, when it is killed or crashes.
#include <stdlib.h>
#include <sys/wait.h>

#include "paths.h"
#include "trace.h"

namespace mxnet::profiler_test {
namespace {

// A folder of its own as the helper's working directory; gone at the end.
class ProfilerProcess : public testing::Test {
 protected:
  ProfilerProcess() {
    std::string name = testing::TempDir() + "/profiler.XXXXXX";
    folder = ::mkdtemp(name.data());
  }
  ~ProfilerProcess() override { EXPECT_EQ(std::system(("rm -r " + folder).c_str()), 0); }
  // The status of the shell that ran it.
  int run(const std::string& environment, const std::string& arguments) const {
    const std::string command = "cd " + folder + " && env -u MXNET_PROFILER_AUTOSTART " +
                                environment + " " + test_path("helper") + " " + arguments;
    return std::system(command.c_str());
  }
  std::string path() const { return folder + "/profile.json"; }
  bool left_a_trace() const { return ::access(path().c_str(), F_OK) == 0; }

  std::string folder;
};

constexpr int kWork = 100;

TEST_F(ProfilerProcess, AutostartWritesProfileJsonAtExit) {
  ASSERT_EQ(run("MXNET_PROFILER_AUTOSTART=1", "exit"), 0);
  const Trace trace(path());
  EXPECT_EQ(trace.count("b", "MXNDArrayCreateEx"), kWork);
  EXPECT_EQ(trace.count("e", "MXNDArrayCreateEx"), kWork);
  EXPECT_GT(trace.count("C", "Memory: cpu/0"), 0);
}

TEST_F(ProfilerProcess, WithoutAutostartNothingIsWritten) {
  ASSERT_EQ(run("MXNET_PROFILER_AUTOSTART=0", "exit"), 0);
  EXPECT_FALSE(left_a_trace());
}

TEST_F(ProfilerProcess, WhatWasRunIsWrittenAtExitWithoutADump) {
  ASSERT_EQ(run("", "exit run"), 0);
  EXPECT_EQ(Trace(path()).count("b", "MXNDArrayCreateEx"), kWork);
}

TEST_F(ProfilerProcess, ModeChoosesWhatIsRecorded) {
  const auto found = [&](int mode) {
    EXPECT_EQ(
        run("MXNET_PROFILER_AUTOSTART=1 MXNET_PROFILER_MODE=" + std::to_string(mode), "exit graph"),
        0);
    const Trace trace(path());
    std::string kinds;
    if (!trace.spans_of("operator", "softmax").empty()) kinds += "symbolic ";
    if (!trace.spans_of("operator", "_plus_scalar").empty()) kinds += "imperative ";
    if (trace.count("b", "MXNDArrayCreateEx") > 0) kinds += "calls ";
    if (trace.count("C", "Memory: cpu/0") > 0) kinds += "memory ";
    return kinds;
  };
  EXPECT_EQ(found(0), "");
  EXPECT_EQ(found(1), "symbolic ");
  EXPECT_EQ(found(2), "imperative ");
  EXPECT_EQ(found(4), "calls ");
  EXPECT_EQ(found(8), "memory ");
  EXPECT_EQ(found(13), "symbolic calls memory ");
  EXPECT_EQ(found(15), "symbolic imperative calls memory ");
}

TEST_F(ProfilerProcess, RingEventsBoundWhatIsKept) {
  ASSERT_EQ(
      run("MXNET_PROFILER_AUTOSTART=1 MXNET_PROFILER_MODE=4 MXNET_PROFILER_RING_EVENTS=30", "exit"),
      0);
  const Trace trace(path());
  int calls = 0;
  for (const Json& event : trace.events) calls += event.at("ph") == "b" ? 1 : 0;
  // The rings of one second and of the exit.
  EXPECT_GE(calls, 30);
  EXPECT_EQ(calls + trace.other.at("dropped_events").get<int>(), kWork * 6 + 1);
  EXPECT_GT(trace.other.at("dropped_events").get<int>(), 0);
}

TEST_F(ProfilerProcess, ACrashLeavesAValidTrace) {
  for (const char* ending : {"kill", "segv", "abort"}) {
    SCOPED_TRACE(ending);
    ASSERT_NE(run("MXNET_PROFILER_AUTOSTART=1", std::string(ending) + " 2> /dev/null"), 0);
    const Trace trace(path());
    EXPECT_GE(trace.count("b", "MXNDArrayCreateEx"), kWork);
  }
}

}  // namespace
}  // namespace mxnet::profiler_test
