// SPDX-License-Identifier: Apache-2.0
// What each of the pools' environment variables changes, for each of the three kinds of memory that
// have them.
#include <gtest/gtest.h>

#include "base/config.h"
#include "fake_memory.h"

namespace mxnet::testing {
namespace {

constexpr std::size_t kMiB = 1 << 20;

struct Kind {
  const char* name;
  Device device;
  PoolConfig StorageConfig::*config;
};

class StoragePool : public ::testing::TestWithParam<Kind> {
 protected:
  PoolConfig& variables() { return config_.*GetParam().config; }
  Storage make() {
    FakeMemory& memory = memory_;
    return GetParam().device.is_gpu() ? Storage(config_, with_gpu(memory, memory))
                                      : Storage(config_, no_gpu(memory));
  }
  // The chunk that a request of `bytes` takes from the device.
  std::size_t chunk(std::size_t bytes) {
    Storage storage = make();
    const std::size_t before = memory_.used();
    const Block block = storage.allocate(bytes, GetParam().device);
    EXPECT_EQ(block.bytes, bytes);
    const std::size_t taken = memory_.used() - before;
    EXPECT_EQ(block.capacity, taken);
    storage.release(block);
    return taken;
  }
  bool reuses(Storage& storage, std::size_t first, std::size_t second) {
    storage.release(storage.allocate(first, GetParam().device));
    const uint64_t before = memory_.allocations();
    storage.release(storage.allocate(second, GetParam().device));
    return memory_.allocations() == before;
  }

  FakeMemory memory_{1000 * kMiB};
  StorageConfig config_;
};

TEST_P(StoragePool, TypeNaiveReusesTheSameNumberOfPagesOnly) {
  variables().type = PoolType::kNaive;
  Storage storage = make();
  EXPECT_TRUE(reuses(storage, 8192, 4097));
  EXPECT_FALSE(reuses(storage, 8192, 4096));
}

TEST_P(StoragePool, TypeRoundReusesTheSamePowerOfTwo) {
  variables().type = PoolType::kRound;
  Storage storage = make();
  EXPECT_TRUE(reuses(storage, 5 * 4096, 8 * 4096));
  EXPECT_FALSE(reuses(storage, 5 * 4096, 9 * 4096));
}

TEST_P(StoragePool, TypeUnpooledKeepsNothing) {
  variables().type = PoolType::kUnpooled;
  Storage storage = make();
  EXPECT_FALSE(reuses(storage, 8192, 8192));
  EXPECT_EQ(memory_.used(), 0u);
  EXPECT_EQ(chunk(100), 100u);
}

TEST_P(StoragePool, NaiveStorageManagersSwitchTheCacheOff) {
  config_.use_naive_managers = 1;
  Storage storage = make();
  EXPECT_FALSE(reuses(storage, 8192, 8192));
  EXPECT_EQ(storage.stats(GetParam().device).cached, 0u);
}

// On the host what is at most half a page takes less.
TEST_P(StoragePool, PageSizeIsTheSmallestChunkOfNaive) {
  const bool host = GetParam().device == Device::cpu();
  EXPECT_EQ(chunk(1), host ? 64u : 4096u);
  EXPECT_EQ(chunk(2049), 4096u);
  variables().page_size = 65536;
  EXPECT_EQ(chunk(20000), host ? 32768u : 65536u);
  EXPECT_EQ(chunk(32769), 65536u);
  EXPECT_EQ(chunk(65537), 131072u);
}

TEST_P(StoragePool, PageSizeIsTheSmallestChunkOfRound) {
  variables().type = PoolType::kRound;
  const bool host = GetParam().device == Device::cpu();
  EXPECT_EQ(chunk(1), host ? 64u : 4096u);
  EXPECT_EQ(chunk(2049), 4096u);
  variables().page_size = 65536;
  EXPECT_EQ(chunk(20000), host ? 32768u : 65536u);
  EXPECT_EQ(chunk(32769), 65536u);
  EXPECT_EQ(chunk(65537), 131072u);
}

TEST_P(StoragePool, LargeAllocRoundSizeRoundsLargeRequests) {
  EXPECT_EQ(chunk(2 * kMiB + 1), 4 * kMiB);
  variables().large_alloc_round_size = 3 * kMiB;
  EXPECT_EQ(chunk(2 * kMiB + 1), 2 * kMiB + 4096);
  EXPECT_EQ(chunk(3 * kMiB + 1), 6 * kMiB);
}

TEST_P(StoragePool, LargeAllocRoundSizeOfOneIsOff) {
  variables().large_alloc_round_size = 1;
  EXPECT_EQ(chunk(2 * kMiB + 1), 2 * kMiB + 4096);
}

TEST_P(StoragePool, RoundLinearCutoffEndsThePowersOfTwo) {
  variables().type = PoolType::kRound;
  EXPECT_EQ(chunk(33 * kMiB), 48 * kMiB);  // 2^24 = 16 MiB
  variables().round_linear_cutoff = 20;
  EXPECT_EQ(chunk(33 * kMiB - 1), 33 * kMiB);
  variables().round_linear_cutoff = 30;
  EXPECT_EQ(chunk(33 * kMiB), 64 * kMiB);
}

// Half of the memory is to stay free: a request that would take more than the other half makes the
// pool release what it caches. Without a reserve the same program keeps its cache.
TEST_P(StoragePool, ReserveLeavesMemoryFree) {
  const auto used_after = [&](int reserve) {
    variables().reserve = reserve;
    Storage storage = make();
    const Block live = storage.allocate(300 * kMiB, GetParam().device);
    storage.release(storage.allocate(60 * kMiB, GetParam().device));
    storage.release(storage.allocate(70 * kMiB, GetParam().device));
    const Block more = storage.allocate(80 * kMiB, GetParam().device);
    const std::size_t used = memory_.used();
    storage.release(more);
    storage.release(live);
    return used;
  };
  EXPECT_EQ(used_after(0), 510 * kMiB);
  EXPECT_EQ(used_after(50), 450 * kMiB);  // the oldest was enough
  EXPECT_EQ(used_after(62), 380 * kMiB);  // all of the cache
}

TEST_P(StoragePool, ReserveNeverRefusesWhatIsNeeded) {
  variables().reserve = 100;
  Storage storage = make();
  const Block block = storage.allocate(900 * kMiB, GetParam().device);
  EXPECT_NE(block.data, nullptr);
  storage.release(block);
}

TEST_P(StoragePool, ReserveSeesWhatOthersTake) {
  variables().reserve = 10;
  Storage storage = make();
  const Block live = storage.allocate(400 * kMiB, GetParam().device);
  storage.release(storage.allocate(100 * kMiB, GetParam().device));
  memory_.take_away(390 * kMiB);
  const Block more = storage.allocate(20 * kMiB, GetParam().device);
  EXPECT_EQ(storage.stats(GetParam().device).cached, 0u);
  storage.release(more);
  storage.release(live);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoragePool,
                         ::testing::Values(Kind{"Cpu", Device::cpu(), &StorageConfig::cpu},
                                           Kind{"CpuPinned", Device::cpu_pinned(),
                                                &StorageConfig::pinned},
                                           Kind{"Gpu", Device::gpu(), &StorageConfig::gpu}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace mxnet::testing
