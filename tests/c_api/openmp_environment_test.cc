// SPDX-License-Identifier: Apache-2.0
// OMP_NUM_THREADS, MXNET_OMP_MAX_THREADS and KMP_AFFINITY from a process's environment to the
// regions of its kernels, on the caller's thread and on the engine's workers.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "paths.h"

namespace {

struct Regions {
  std::vector<std::string> main, operation;  // the CPUs of each thread
};

Regions run_helper(const std::string& environment) {
  const std::string command = "env -u OMP_NUM_THREADS -u KMP_AFFINITY " + environment + " " +
                              mxnet::test_path("openmp_helper");
  FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 256> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  EXPECT_EQ(pclose(pipe), 0) << command;
  Regions regions;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string where, cpus;
    int width = 0;
    words >> where >> width;
    auto& threads = where == "main" ? regions.main : regions.operation;
    while (words >> cpus) threads.push_back(cpus);
    EXPECT_EQ(threads.size(), static_cast<size_t>(width)) << line;
  }
  return regions;
}

TEST(OpenMPEnvironment, ThreadCountReachesCallersAndWorkers) {
  for (const char* engine : {"NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"}) {
    const Regions regions =
        run_helper(std::string("OMP_NUM_THREADS=3 MXNET_ENGINE_TYPE=") + engine);
    EXPECT_EQ(regions.main.size(), 3U) << engine;
    EXPECT_EQ(regions.operation.size(), 3U) << engine;
  }
}

TEST(OpenMPEnvironment, TheCapBoundsTheCount) {
  const Regions regions = run_helper("OMP_NUM_THREADS=5 MXNET_OMP_MAX_THREADS=2");
  EXPECT_EQ(regions.main.size(), 2U);
  EXPECT_EQ(regions.operation.size(), 2U);
}

TEST(OpenMPEnvironment, CompactAffinityGivesEachThreadOneCpuOfItsOwn) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  if (CPU_COUNT(&set) < 2) GTEST_SKIP() << "one CPU only";
  const Regions regions = run_helper("OMP_NUM_THREADS=2 KMP_AFFINITY=granularity=fine,compact,1,0");
  for (const auto& threads : {regions.main, regions.operation}) {
    ASSERT_EQ(threads.size(), 2U);
    EXPECT_EQ(threads[0].find('+'), std::string::npos) << threads[0];
    EXPECT_EQ(threads[1].find('+'), std::string::npos) << threads[1];
    EXPECT_NE(threads[0], threads[1]);
  }
}

}  // namespace
