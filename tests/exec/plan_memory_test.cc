// SPDX-License-Identifier: Apache-2.0
// What memory is taken, and what is not: scratch memory of plans, and zeros.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "exec/network_fixture.h"
#include "exec/plan_scratch.h"
#include "op/fused/winograd.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t in_use() {
  Engine::get().wait_for_all();
  return Storage::get().stats(Device::cpu()).in_use;
}

// Of the process, in bytes.
std::size_t resident() {
  Engine::get().wait_for_all();
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(PlanScratch, IsAsLargeAsTheGreediestKernelAsks) {
  const std::size_t cached = Storage::get().stats(Device::cpu()).cached;
  PlanScratch scratch(Device::cpu());
  for (const std::size_t bytes : {kMiB, 2 * kMiB, 5 * kMiB, 3 * kMiB}) {
    EXPECT_NE(scratch.workspace(bytes), nullptr);
    scratch.reset();
  }
  EXPECT_EQ(scratch.bytes(), 5 * kMiB);
  // What it outgrew does not wait in the pool for somebody who asks for as much.
  EXPECT_LE(Storage::get().stats(Device::cpu()).cached, cached);
}

TEST(PlanScratch, HoldsAllThatOneKernelAsksForTogether) {
  PlanScratch scratch(Device::cpu());
  for (int run = 0; run < 2; ++run) {
    auto* first = static_cast<char*>(scratch.workspace(3 * kMiB));
    auto* second = static_cast<char*>(scratch.workspace(4 * kMiB));
    std::fill_n(first, 3 * kMiB, char{1});
    std::fill_n(second, 4 * kMiB, char{2});
    EXPECT_EQ(std::count(first, first + 3 * kMiB, 1), static_cast<std::ptrdiff_t>(3 * kMiB));
    scratch.reset();
    EXPECT_EQ(scratch.bytes(), 7 * kMiB);
  }
}

// The gradient of an image has its transformed weights there, that of the weight its sums: as much.
TEST(PlanScratch, IsUsedByOneGradientOfAConvolutionAfterTheOther) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  Network net({2, 256, 16, 16});
  const Value first = net.conv("c1", net.data(), 256, 256);
  const Value output = net.conv("c2", first, 256, 256);
  Executor executor = net.bind(graph_of({output}), Request::kWrite);
  const std::size_t before = in_use();
  executor.forward(true);
  executor.backward({});
  EXPECT_NE(executor.debug_str().find("[winograd]"), std::string::npos);
  EXPECT_LT(in_use() - before, 18 * kMiB) << "9 MiB each, and images of half a MiB";
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Gradients of a network that only infers.
TEST(Zeros, TakeNoMemoryUntilSomebodyWrites) {
  constexpr int64_t kSize = 17 << 20;
  const std::size_t before = resident();
  const NDArray zeros = call("_zeros", {}, {{"shape", "(" + std::to_string(kSize) + ",)"}});
  zeros.wait_to_read();
  EXPECT_LT(resident(), before + 8 * kMiB);
  const auto* values = static_cast<const float*>(zeros.data());
  EXPECT_EQ(std::count(values, values + kSize, 0.0F), kSize);
}

// Each array takes a quarter more than a huge page.
TEST(Storage, TakesNoHugePageForTheLastPartOfABlock) {
  constexpr std::size_t kBytes = 2 * kMiB + kMiB / 4;
  const std::size_t before = resident();
  std::vector<Block> blocks;
  for (int i = 0; i < 32; ++i) {
    blocks.push_back(Storage::get().allocate(kBytes, Device::cpu(), "test"));
    std::fill_n(static_cast<char*>(blocks.back().data), kBytes, char{1});
  }
  EXPECT_LT(resident() - before, 32 * (kBytes + kMiB / 4));
  for (const Block& block : blocks) Storage::get().release_direct(block);
}
#endif

TEST(Zeros, AreWrittenWhereMemoryWasUsed) {
  constexpr int64_t kSize = 3 << 20;
  const Attrs shape{{"shape", "(" + std::to_string(kSize) + ",)"}};
  for (const char* name : {"_zeros", "_npi_zeros"}) {
    for (int run = 0; run < 3; ++run) {
      { call("_ones", {}, shape).wait_to_read(); }
      NDArray zeros = call(name, {}, shape);
      zeros.wait_to_read();
      const auto* values = static_cast<const float*>(zeros.data());
      ASSERT_EQ(std::count(values, values + kSize, 0.0F), kSize);
      NDArray like = call("zeros_like", {&zeros});
      call_into(zeros, "_ones", {}, shape);
      call_into(zeros, name, {}, shape);
      zeros.wait_to_read();
      ASSERT_EQ(std::count(values, values + kSize, 0.0F), kSize) << "into an array that is there";
    }
  }
}

}  // namespace
}  // namespace mxnet
