// SPDX-License-Identifier: Apache-2.0
// Sizes that never repeat must not make the pool collect memory: what it holds stays within 1.5
// times the peak of what was in use, though blocks are reused for their own size only.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "base/config.h"
#include "fake_memory.h"

namespace mxnet::testing {
namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr uint64_t kSeed = 20240611;

struct Case {
  const char* name;
  Device device;
  PoolType type;
  std::size_t smallest, largest;  // sizes are spread evenly over the logarithm
  std::size_t live;               // blocks at a time
};

class Footprint : public ::testing::TestWithParam<Case> {};

TEST_P(Footprint, StaysWithinOneAndAHalfTimesTheLivePeak) {
  constexpr int kSteps = 100000;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Case& c = GetParam();
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> magnitude(std::log(c.smallest), std::log(c.largest));
  FakeMemory memory;
  StorageConfig config;
  config.cpu.type = config.gpu.type = c.type;
  Storage storage(config, with_gpu(memory, memory));
  std::vector<Block> live;
  std::size_t in_use = 0, live_peak = 0;
  for (int step = 0; step < kSteps; ++step) {
    if (live.size() >= c.live) {
      std::swap(live[random() % live.size()], live.back());
      in_use -= live.back().capacity;
      storage.release(live.back());
      live.pop_back();
    }
    live.push_back(
        storage.allocate(static_cast<std::size_t>(std::exp(magnitude(random))), c.device));
    in_use += live.back().capacity;
    live_peak = std::max(live_peak, in_use);
    ASSERT_LE(memory.used(), std::max(live_peak + live_peak / 2, kMiB)) << "step " << step;
  }
  // Not by caching nothing: for sizes of few chunks the cache serves.
  EXPECT_GT(storage.stats(c.device).hits, 0u);
  for (const Block& block : live) storage.release(block);
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(
    Storage, Footprint,
    ::testing::Values(Case{"NaiveSmall", Device::cpu(), PoolType::kNaive, 1, 64 << 10, 200},
                      Case{"NaiveMixed", Device::cpu(), PoolType::kNaive, 100, 64 << 20, 100},
                      Case{"NaiveLarge", Device::cpu(), PoolType::kNaive, 8 << 20, 512 << 20, 20},
                      Case{"NaiveFewLive", Device::cpu(), PoolType::kNaive, 100, 64 << 20, 2},
                      Case{"RoundMixed", Device::cpu(), PoolType::kRound, 100, 64 << 20, 100},
                      Case{"GpuNaiveMixed", Device::gpu(), PoolType::kNaive, 100, 64 << 20, 100}),
    case_name);

TEST(FootprintOfThreads, StaysWithinTheSameBound) {
  constexpr int kThreads = 4, kSteps = 20000;
  FakeMemory memory;
  Storage storage(StorageConfig(), no_gpu(memory));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(kSeed + t);
      std::deque<Block> live;
      for (int step = 0; step < kSteps; ++step) {
        live.push_back(storage.allocate(1 + random() % (4 * kMiB), Device::cpu()));
        if (live.size() > 30) {
          storage.release(live.front());
          live.pop_front();
        }
      }
      for (const Block& block : live) storage.release(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const StorageStats stats = storage.stats(Device::cpu());
  EXPECT_EQ(stats.in_use, 0u);
  // The live peak is known to a grain a thread (meter.h).
  const std::size_t slack = kThreads * stats.peak_in_use / 32;
  EXPECT_LE(memory.peak_used(), (stats.peak_in_use + slack) * 3 / 2) << "seed " << kSeed;
}

// What a program needed once is no measure for ever: sizes that are new make the bound fade.
TEST(FootprintOfNewSizes, FollowsTheRecentPeak) {
  FakeMemory memory;
  Storage storage(StorageConfig(), no_gpu(memory));
  std::vector<Block> live;
  for (int i = 0; i < 16; ++i) live.push_back(storage.allocate(2 * kMiB, Device::cpu()));
  for (const Block& block : live) storage.release(block);
  const auto meet_new_sizes = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      storage.release(storage.allocate(kMiB + i * 4096, Device::cpu()));
  };
  meet_new_sizes(0, 8);
  EXPECT_GE(memory.used(), 32 * kMiB) << "a few give nothing back";
  meet_new_sizes(8, 250);
  EXPECT_LE(memory.used(), 4 * kMiB);
  EXPECT_EQ(storage.stats(Device::cpu()).peak_in_use, 32 * kMiB) << "what users see stays";
}

// A program that repeats itself is served from the cache alone after its first round.
TEST(FootprintOfSteps, ThatRepeatNeedNoNewMemory) {
  FakeMemory memory;
  Storage storage(StorageConfig(), no_gpu(memory));
  uint64_t allocations = 0;
  for (int step = 0; step < 20; ++step) {
    std::vector<Block> live;
    for (std::size_t layer = 1; layer <= 50; ++layer) {
      live.push_back(storage.allocate(layer * 100000, Device::cpu()));
      storage.release(storage.allocate(layer * 10000, Device::cpu()));
    }
    for (const Block& block : live) storage.release(block);
    if (step == 0) allocations = memory.allocations();
  }
  EXPECT_EQ(memory.allocations(), allocations);
}

}  // namespace
}  // namespace mxnet::testing
