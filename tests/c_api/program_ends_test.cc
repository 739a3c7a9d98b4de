// SPDX-License-Identifier: Apache-2.0
// Plain C programs end in many ways while the library works, and call it in handlers, destructors
// and children: none crashes, hangs or writes anything.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "fork_under_load.h"
#include "paths.h"

namespace mxnet {
namespace {

constexpr int kRepeats = 4;

// Status and output of the program. Leaks are not looked for: threads that are ended hold arrays.
int run(const std::string& way, const std::string& engine, std::string* output) {
  const std::string command = "env ASAN_OPTIONS=detect_leaks=0 MXNET_ENGINE_TYPE=" + engine + " " +
                              test_path("ending_program") + " " + way + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 256> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) *output += buffer.data();
  return pclose(pipe);
}

class ProgramEnds : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, ProgramEnds,
                         testing::Values("handlers", "destructor", "shutdown", "shutdown_first",
                                         "quick_exit", "operation_leaves_quietly",
                                         "operation_leaves", "operation_leaves_quickly", "threads",
                                         "threads_and_handlers", "end_of_a_thread", "signal",
                                         "children", "children_of_threads", "another_program",
                                         "profiled"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ProgramEnds, WithoutACrashOrAHang) {
  // Whose operations still run where they fork.
  if (std::string_view(GetParam()).starts_with("children"))
    MX_SKIP_WHERE_A_FORK_LOSES_THE_ALLOCATOR();
  for (const char* engine : {"ThreadedEnginePerDevice", "NaiveEngine"}) {
    for (int i = 0; i < kRepeats; ++i) {
      std::string output;
      EXPECT_EQ(run(GetParam(), engine, &output), 0) << engine << ", repeat " << i;
      EXPECT_EQ(output, "") << engine << ", repeat " << i;
    }
  }
}

}  // namespace
}  // namespace mxnet
