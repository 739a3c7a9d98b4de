// SPDX-License-Identifier: Apache-2.0
// Every operator with a CPU kernel has one on GPUs, or stands in without_gpu_kernel.txt under the
// reason why not and runs on the host. The list may only shrink: an operator that has got a kernel
// must leave it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "op/run/gpu.h"
#include "paths.h"

namespace mxnet {
namespace {

// Operator -> reason. Lines that begin with # give the reason of those below.
std::map<std::string, std::string> listed() {
  std::ifstream file(test_path("without_gpu_kernel"));
  EXPECT_TRUE(file) << test_path("without_gpu_kernel");
  std::map<std::string, std::string> result;
  std::string line, reason;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) {
      reason = line.substr(1);
    } else if (!line.empty()) {
      EXPECT_TRUE(result.emplace(line, reason).second) << line << " is listed twice";
    }
  }
  return result;
}

bool has_cpu_kernel(const OpDef& op) {
  for (const KernelEntry& kernel : op.kernels())
    if (kernel.device == DeviceType::kCPU) return true;
  return false;
}

TEST(GpuCoverage, EveryOperatorHasAKernelOrAReason) {
  ASSERT_NE(gpu_table(), nullptr);
  std::map<std::string, std::string> expected = listed();
  int with = 0, without = 0;
  for (const OpDef* op : Registry::get().ops()) {
    if (!has_cpu_kernel(*op) || op->name().starts_with("_test_")) continue;
    const bool found = gpu_kernel(*op) != nullptr;
    ++(found ? with : without);
    const auto entry = expected.find(op->name());
    if (found) {
      EXPECT_EQ(entry, expected.end()) << op->name() << " has a kernel now: take it off the list";
    } else {
      EXPECT_NE(entry, expected.end()) << op->name() << " has no kernel on GPUs and no reason";
    }
    if (entry != expected.end()) {
      EXPECT_GT(entry->second.size(), 10u) << op->name() << " has no reason";
      expected.erase(entry);
    }
  }
  for (const auto& [name, reason] : expected) ADD_FAILURE() << name << " is no operator";
  RecordProperty("with", with);
  RecordProperty("without", without);
}

}  // namespace
}  // namespace mxnet
