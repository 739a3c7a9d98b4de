// SPDX-License-Identifier: Apache-2.0
// Many threads on one pool: nobody is handed memory that somebody else holds, nothing is lost, and
// caches survive their threads. Run under TSAN and ASAN.
#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "base/config.h"
#include "fake_memory.h"

namespace mxnet::testing {
namespace {

constexpr uint64_t kSeed = 20240613;
constexpr int kSteps = 20000;  // a thread

void run_threads(int count, const std::function<void(int)>& body) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      body(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A holder marks both ends of its block and finds the marks again when it lets go.
void mark(const Block& block, uint64_t value) {
  std::memcpy(block.data, &value, sizeof(value));
  std::memcpy(static_cast<char*>(block.data) + block.bytes - sizeof(value), &value, sizeof(value));
}
bool marked(const Block& block, uint64_t value) {
  uint64_t ends[2];
  std::memcpy(&ends[0], block.data, sizeof(value));
  std::memcpy(&ends[1], static_cast<char*>(block.data) + block.bytes - sizeof(value),
              sizeof(value));
  return ends[0] == value && ends[1] == value;
}

class Threads : public ::testing::TestWithParam<std::tuple<int, PoolType>> {
 protected:
  int count() const { return std::get<0>(GetParam()); }
  StorageConfig config() const {
    StorageConfig config;
    config.cpu.type = std::get<1>(GetParam());
    return config;
  }
};

TEST_P(Threads, OfMixedSizesNeverShareABlock) {
  FakeMemory memory;
  std::atomic<int> broken{0};
  {
    Storage storage(config(), no_gpu(memory));
    run_threads(count(), [&](int t) {
      std::mt19937_64 random(kSeed + t);
      std::vector<std::pair<Block, uint64_t>> live;
      for (int step = 0; step < kSteps; ++step) {
        if (live.size() < 20 && random() % 2 == 0) {
          const Block block =
              storage.allocate(16 + random() % 300000, Device::cpu(), t % 2 ? "odd" : "even");
          live.emplace_back(block, random());
          mark(block, live.back().second);
        } else if (!live.empty()) {
          std::swap(live[random() % live.size()], live.back());
          broken += !marked(live.back().first, live.back().second);
          storage.release(live.back().first);
          live.pop_back();
        }
      }
      for (const auto& [block, value] : live) storage.release_direct(block);
    });
    const StorageStats stats = storage.stats(Device::cpu());
    EXPECT_EQ(stats.in_use, 0u);
    EXPECT_EQ(stats.requested, 0u);
    EXPECT_EQ(stats.cached, memory.used());
  }
  EXPECT_EQ(broken, 0) << "seed " << kSeed;
  EXPECT_EQ(memory.used(), 0u);
}

// Each thread frees what its neighbour allocated.
TEST_P(Threads, MayFreeEachOthersBlocks) {
  FakeMemory memory;
  Storage storage(config(), no_gpu(memory));
  const int n = count();
  std::vector<std::vector<Block>> ring(n);
  std::barrier turn(n);
  run_threads(n, [&](int t) {
    std::mt19937_64 random(kSeed + t);
    for (int round = 0; round < 100; ++round) {
      for (int i = 0; i < 50; ++i) {
        ring[t].push_back(storage.allocate(1 + random() % 100000, Device::cpu(), "ring"));
      }
      turn.arrive_and_wait();
      std::vector<Block>& mine = ring[(t + 1) % n];
      for (const Block& block : mine) storage.release(block);
      mine.clear();
      turn.arrive_and_wait();
    }
  });
  const StorageStats stats = storage.stats(Device::cpu());
  EXPECT_EQ(stats.in_use, 0u);
  EXPECT_EQ(stats.requested, 0u);
  EXPECT_EQ(stats.cached, memory.used());
}

TEST_P(Threads, WorkWhileTheCacheIsEmptiedAndCounted) {
  FakeMemory memory;
  Storage storage(config(), no_gpu(memory));
  std::atomic<bool> stop{false};
  std::thread janitor([&] {
    while (!stop) {
      storage.empty_cache(Device::cpu());
      const StorageStats stats = storage.stats(Device::cpu());
      EXPECT_LE(stats.cached, std::size_t{1} << 40);
      EXPECT_FALSE(storage.table(Device::cpu()).empty());
      storage.reset_peak(Device::cpu());
    }
  });
  run_threads(count(), [&](int t) {
    std::mt19937_64 random(kSeed + t);
    for (int step = 0; step < kSteps / 4; ++step) {
      const Block block = storage.allocate(16 + random() % 100000, Device::cpu(), "work");
      mark(block, step);
      EXPECT_TRUE(marked(block, step));
      storage.release(block);
    }
  });
  stop = true;
  janitor.join();
  storage.empty_cache(Device::cpu());
  EXPECT_EQ(memory.used(), 0u);
}

TEST_P(Threads, OnAFullDeviceGetWhatTheOthersCache) {
  // Room for what the threads hold at most, not for what they would cache.
  constexpr std::size_t kChunk = 1 << 20;
  FakeMemory memory(static_cast<std::size_t>(count()) * 4 * kChunk);
  StorageConfig full = config();
  full.cpu.reserve = 0;
  Storage storage(full, no_gpu(memory));
  run_threads(count(), [&](int t) {
    std::mt19937_64 random(kSeed + t);
    for (int step = 0; step < kSteps / 20; ++step) {
      // One block of 1 to 4 MiB each: always fits if nothing is cached.
      const std::size_t bytes = (std::size_t{1} << (random() % 3)) * kChunk;
      storage.release(storage.allocate(bytes, Device::cpu()));
    }
  });
  EXPECT_EQ(storage.stats(Device::cpu()).in_use, 0u);
}

std::string threads_name(const ::testing::TestParamInfo<std::tuple<int, PoolType>>& info) {
  const char* const types[] = {"Naive", "Round", "Unpooled"};
  return std::to_string(std::get<0>(info.param)) + types[static_cast<int>(std::get<1>(info.param))];
}
INSTANTIATE_TEST_SUITE_P(Storage, Threads,
                         ::testing::Combine(::testing::Values(1, 2, 4),
                                            ::testing::Values(PoolType::kNaive, PoolType::kRound,
                                                              PoolType::kUnpooled)),
                         threads_name);

TEST(EndedThreads, LeaveTheirCacheToTheNext) {
  FakeMemory memory;
  Storage storage(StorageConfig(), no_gpu(memory));
  for (int i = 0; i < 50; ++i) {
    std::thread([&] { storage.release(storage.allocate(10000, Device::cpu())); }).join();
  }
  EXPECT_EQ(memory.allocations(), 1u);
  storage.release(storage.allocate(10000, Device::cpu()));
  EXPECT_EQ(memory.allocations(), 1u);
}

TEST(EndedThreads, MayStillUseThePoolInTheirLastDestructors) {
  FakeMemory memory;
  Storage storage(StorageConfig(), no_gpu(memory));
  struct Late {
    Storage* storage = nullptr;
    Block block;
    ~Late() {
      if (storage == nullptr) return;
      storage->release(block);
      storage->release(storage->allocate(5000, Device::cpu()));
    }
  };
  std::thread([&] {
    static thread_local Late late;  // built before the pool's own, so destroyed after it
    late.storage = &storage;
    late.block = storage.allocate(5000, Device::cpu());
  }).join();
  EXPECT_EQ(storage.stats(Device::cpu()).in_use, 0u);
  EXPECT_EQ(memory.allocations(), 1u);
}

TEST(EndedThreads, MayOutliveTheStorage) {
  FakeMemory memory;
  auto storage = std::make_unique<Storage>(StorageConfig(), no_gpu(memory));
  std::barrier used(2), gone(2);
  std::thread thread([&] {
    storage->release(storage->allocate(100, Device::cpu()));
    used.arrive_and_wait();
    gone.arrive_and_wait();
  });
  used.arrive_and_wait();
  storage.reset();
  gone.arrive_and_wait();
  thread.join();
  EXPECT_EQ(memory.used(), 0u);
}

TEST(EndedThreads, OneThreadMayUseManyStorages) {
  FakeMemory memory;
  std::vector<std::unique_ptr<Storage>> storages;
  for (int i = 0; i < 100; ++i) {
    storages.push_back(std::make_unique<Storage>(StorageConfig(), no_gpu(memory)));
  }
  for (int round = 0; round < 3; ++round) {
    for (auto& storage : storages) storage->release(storage->allocate(100, Device::cpu()));
  }
  EXPECT_EQ(memory.allocations(), 100u);
}

}  // namespace
}  // namespace mxnet::testing
