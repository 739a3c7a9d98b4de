// SPDX-License-Identifier: Apache-2.0
// A full device: what fits once the caches are gone always succeeds, and what does not is
// explained.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/config.h"
#include "fake_memory.h"

namespace mxnet::testing {
namespace {

constexpr std::size_t kMiB = 1 << 20;

StorageConfig no_reserve() {
  StorageConfig config;
  config.cpu.reserve = config.pinned.reserve = config.gpu.reserve = 0;
  return config;
}

TEST(OutOfMemory, ARequestThatFitsAfterAFlushSucceeds) {
  FakeMemory memory(100 * kMiB);
  Storage storage(no_reserve(), with_gpu(memory, memory));
  const Block a = storage.allocate(50 * kMiB, Device::gpu());
  const Block b = storage.allocate(30 * kMiB, Device::gpu());
  storage.release(a);
  storage.release(b);
  const Block all = storage.allocate(100 * kMiB, Device::gpu());
  EXPECT_NE(all.data, nullptr);
  EXPECT_EQ(memory.used(), 100 * kMiB);
  storage.release(all);
}

TEST(OutOfMemory, CachesOfEndedAndLivingThreadsAreFlushedToo) {
  FakeMemory memory(100 * kMiB);
  Storage storage(no_reserve(), no_gpu(memory));
  // Each thread hides 10 MiB in its own lane, of a size of its own.
  std::vector<std::thread> ended;
  for (std::size_t i = 0; i < 5; ++i) {
    ended.emplace_back(
        [&, i] { storage.release(storage.allocate(10 * kMiB + 2 * i * kMiB, Device::cpu())); });
    ended.back().join();
  }
  const Block all = storage.allocate(100 * kMiB, Device::cpu());
  EXPECT_NE(all.data, nullptr);
  storage.release(all);
}

TEST(OutOfMemory, PoolsThatShareTheMemoryGiveWay) {
  FakeMemory memory(100 * kMiB);
  Storage storage(no_reserve(), no_gpu(memory));
  storage.release(storage.allocate(60 * kMiB, Device::cpu_pinned()));
  EXPECT_EQ(storage.stats(Device::cpu_pinned()).cached, 60 * kMiB);
  const Block block = storage.allocate(80 * kMiB, Device::cpu());
  EXPECT_NE(block.data, nullptr);
  EXPECT_EQ(storage.stats(Device::cpu_pinned()).cached, 0u);
  storage.release(block);
}

TEST(OutOfMemory, UnpooledRequestsFlushOtherPoolsToo) {
  FakeMemory memory(100 * kMiB);
  StorageConfig config = no_reserve();
  config.cpu.type = PoolType::kUnpooled;
  Storage storage(config, no_gpu(memory));
  storage.release(storage.allocate(60 * kMiB, Device::cpu_pinned()));
  const Block block = storage.allocate(80 * kMiB, Device::cpu());
  EXPECT_NE(block.data, nullptr);
  storage.release(block);
}

// Other threads cache memory between our flush and our next try.
TEST(OutOfMemory, MemoryThatIsCachedDuringTheFlushIsFoundAsWell) {
  FakeMemory memory(100 * kMiB);
  Storage storage(no_reserve(), no_gpu(memory));
  Block others[] = {storage.allocate(20 * kMiB, Device::cpu()),
                    storage.allocate(30 * kMiB, Device::cpu())};
  int tries = 0;
  memory.on_allocate([&] {
    if (tries < 2) storage.release(others[tries]);
    ++tries;
  });
  const Block block = storage.allocate(100 * kMiB, Device::cpu());
  EXPECT_NE(block.data, nullptr);
  EXPECT_EQ(tries, 3);
  storage.release(block);
}

TEST(OutOfMemory, IsAnErrorThatListsWhoHoldsTheMemory) {
  FakeMemory memory(100 * kMiB);
  Storage storage(no_reserve(), with_gpu(memory, memory));
  const Block weights = storage.allocate(40 * kMiB, Device::gpu(), "weights");
  const Block outputs = storage.allocate(21 * kMiB, Device::gpu(), "conv0_output");
  storage.release(storage.allocate(20 * kMiB, Device::gpu(), "scratch"));
  const std::string message = error_of(
      ErrorCode::kOutOfMemory, [&] { storage.allocate(50 * kMiB, Device::gpu(), "conv1_output"); });
  for (const char* part :
       {"[gpu(0)] out of memory", "52428800 bytes", "in use", "62.00 MiB", "requested", "61.00 MiB",
        "cached", "0 B", "limit: fake of 100.00 MiB, 38.00 MiB free", "weights", "40.00 MiB",
        "conv0_output", "22.00 MiB"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in:\n" << message;
  }
  EXPECT_LT(message.find("weights"), message.find("conv0_output"));
  EXPECT_EQ(message.find("scratch"), std::string::npos);
  storage.release(weights);
  storage.release(outputs);
  // And the pool goes on.
  const Block again = storage.allocate(90 * kMiB, Device::gpu());
  EXPECT_NE(again.data, nullptr);
  storage.release(again);
}

TEST(OutOfMemory, RequestsThatNoMachineCanServeAreErrorsToo) {
  for (const PoolType type : {PoolType::kNaive, PoolType::kRound, PoolType::kUnpooled}) {
    FakeMemory memory(100 * kMiB);
    StorageConfig config;
    config.cpu.type = type;
    Storage storage(config, no_gpu(memory));
    const Block live = storage.allocate(kMiB, Device::cpu());
    for (const std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} / 2, std::size_t{1} << 62,
                                    (std::size_t{1} << 62) - 1, std::size_t{1} << 50}) {
      EXPECT_THROW(storage.allocate(bytes, Device::cpu()), Error) << bytes;
    }
    EXPECT_EQ(storage.stats(Device::cpu()).in_use, live.capacity);
    storage.release(live);
  }
}

TEST(OutOfMemory, NothingIsLostOverManyFailures) {
  FakeMemory memory(100 * kMiB);
  {
    Storage storage(no_reserve(), no_gpu(memory));
    std::vector<Block> live;
    for (std::size_t step = 0; step < 2000; ++step) {
      try {
        live.push_back(storage.allocate((1 + step % 7) * kMiB, Device::cpu()));
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::kOutOfMemory);
        for (std::size_t i = 0; i < live.size(); i += 2) storage.release(live[i]);
        std::vector<Block> rest;
        for (std::size_t i = 1; i < live.size(); i += 2) rest.push_back(live[i]);
        live = rest;
      }
      const StorageStats stats = storage.stats(Device::cpu());
      ASSERT_EQ(stats.in_use + stats.cached, memory.used());
    }
    for (const Block& block : live) storage.release(block);
  }
  EXPECT_EQ(memory.used(), 0u);
}

}  // namespace
}  // namespace mxnet::testing
