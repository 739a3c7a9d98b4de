// SPDX-License-Identifier: Apache-2.0
// The simulator's address space: nobody touches it by accident, blocks stay apart, capacity is
// exact.
#include "device/sim/sim_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"

namespace mxnet {
namespace {

constexpr std::size_t kMiB = 1 << 20;

TEST(SimMemory, HostCodeThatTouchesADevicePointerFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SimMemory memory(0, kMiB);
  volatile char* data = static_cast<char*>(memory.allocate(64));
  EXPECT_DEATH(data[0] = 1, "");
  EXPECT_DEATH(static_cast<void>(data[0]), "");
  EXPECT_NE(memory.translate(const_cast<char*>(data), 64), nullptr);
}

TEST(SimMemory, TranslatedMemoryHoldsItsBytes) {
  SimMemory memory(0, kMiB);
  void* a = memory.allocate(1000);
  void* b = memory.allocate(1000);
  std::memset(memory.translate(a, 1000), 1, 1000);
  std::memset(memory.translate(b, 1000), 2, 1000);
  EXPECT_EQ(memory.translate(a, 1000)[999], 1);
  EXPECT_EQ(*memory.translate(static_cast<char*>(b) + 999, 1), 2);
}

TEST(SimMemory, CapacityIsExact) {
  SimMemory memory(0, kMiB);
  void* all = memory.allocate(kMiB);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(memory.used(), kMiB);
  EXPECT_EQ(memory.allocate(1), nullptr);
  EXPECT_TRUE(memory.release(all));
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_EQ(memory.allocate(kMiB + 1), nullptr);
  EXPECT_NE(memory.allocate(1), nullptr);
  EXPECT_EQ(memory.used(), 256u);
}

TEST(SimMemory, WhatIsFreeCanBeHadInOnePiece) {
  SimMemory memory(0, kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(memory.allocate(kMiB / 64));
  for (int i = 0; i < 64; i += 2) EXPECT_TRUE(memory.release(blocks[i]));
  EXPECT_NE(memory.allocate(kMiB / 2), nullptr);
}

TEST(SimMemory, OnlyAddressesInsideALiveBlockTranslate) {
  SimMemory memory(3, kMiB);
  auto* data = static_cast<char*>(memory.allocate(512));
  EXPECT_NO_THROW(memory.translate(data, 512));
  EXPECT_NO_THROW(memory.translate(data + 100, 412));
  EXPECT_THROW(memory.translate(data, 513), Error);
  EXPECT_THROW(memory.translate(data - 1, 1), Error);
  EXPECT_THROW(memory.translate(data + 512, 1), Error);
  EXPECT_THROW(memory.translate(data, SIZE_MAX), Error);
  int on_the_host = 0;
  EXPECT_THROW(memory.translate(&on_the_host, 1), Error);
  EXPECT_FALSE(memory.contains(&on_the_host));
  EXPECT_TRUE(memory.contains(data));
  EXPECT_TRUE(memory.release(data));
  EXPECT_TRUE(memory.contains(data));
  try {
    memory.translate(data, 1);
    FAIL() << "used after release";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("gpu(3)"), std::string::npos);
  }
}

TEST(SimMemory, ReleasingWhatIsNotABlockIsRefused) {
  SimMemory memory(0, kMiB);
  auto* data = static_cast<char*>(memory.allocate(512));
  EXPECT_FALSE(memory.release(data + 256));
  EXPECT_TRUE(memory.release(data));
  EXPECT_FALSE(memory.release(data));
}

TEST(SimMemory, AbsurdCapacityIsAClearError) {
  try {
    SimMemory memory(0, std::size_t{1} << 59);
    FAIL() << "reserved more than there are addresses";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kOutOfMemory);
    EXPECT_NE(e.message().find("MXNET_SIM_GPU_MEMORY_BYTES"), std::string::npos);
  }
}

std::size_t resident_bytes() {
  std::size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(SimMemory, ReleasedMemoryGoesBackToTheSystem) {
  SimMemory memory(0, 64 * kMiB);
  void* data = memory.allocate(64 * kMiB);
  std::memset(memory.translate(data, 64 * kMiB), 1, 64 * kMiB);
  const std::size_t before = resident_bytes();
  EXPECT_TRUE(memory.release(data));
  EXPECT_LT(resident_bytes() + 60 * kMiB, before);
}

// Random allocations and releases against a model: blocks never overlap, the sum is right, contents
// stay.
TEST(SimMemory, RandomHistoryKeepsBlocksApart) {
  const unsigned seed = 20260101;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  SimMemory memory(0, kMiB);
  std::map<char*, std::pair<std::size_t, char>> live;  // data -> size, content
  std::size_t used = 0;
  const auto rounded = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  for (int step = 0; step < 20'000; ++step) {
    if (live.empty() || random() % 5 < 3) {
      const std::size_t bytes = 1 + random() % (step % 2 == 0 ? 20'000 : 300);
      auto* data = static_cast<char*>(memory.allocate(bytes));
      ASSERT_EQ(data != nullptr, used + rounded(bytes) <= kMiB) << step;
      if (data == nullptr) continue;
      used += rounded(bytes);
      const auto next = live.lower_bound(data);
      if (next != live.end()) {
        ASSERT_LE(data + bytes, next->first) << step;
      }
      if (next != live.begin()) {
        const auto& [before, block] = *std::prev(next);
        ASSERT_LE(before + block.first, data) << step;
      }
      const char content = static_cast<char>(random());
      std::memset(memory.translate(data, bytes), content, bytes);
      live[data] = {bytes, content};
    } else {
      auto victim = live.begin();
      std::advance(victim, random() % live.size());
      const auto& [data, block] = *victim;
      const char* bytes = memory.translate(data, block.first);
      ASSERT_EQ(bytes[0], block.second) << step;
      ASSERT_EQ(bytes[block.first - 1], block.second) << step;
      ASSERT_TRUE(memory.release(data));
      used -= rounded(block.first);
      live.erase(victim);
    }
    ASSERT_EQ(memory.used(), used) << step;
  }
}

TEST(SimMemory, ThreadsAllocateAndReleaseTogether) {
  SimMemory memory(0, 4 * kMiB);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      std::vector<void*> mine;
      for (int i = 0; i < 2000; ++i) {
        void* data = memory.allocate(100 + i % 900);
        std::memset(memory.translate(data, 100), t, 100);
        mine.push_back(data);
        if (mine.size() > 20) {
          EXPECT_EQ(*memory.translate(mine.front(), 1), t);
          EXPECT_TRUE(memory.release(mine.front()));
          mine.erase(mine.begin());
        }
      }
      for (void* data : mine) EXPECT_TRUE(memory.release(data));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.used(), 0u);
}

}  // namespace
}  // namespace mxnet
