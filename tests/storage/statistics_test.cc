// SPDX-License-Identifier: Apache-2.0
// What the counters say, and that the observer sees every block come and go.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

#include "base/config.h"
#include "base/hooks.h"
#include "fake_memory.h"

namespace mxnet::testing {
namespace {

constexpr std::size_t kPage = 4096;

struct Statistics : ::testing::Test {
  FakeMemory memory;
  Storage storage{StorageConfig(), no_gpu(memory)};
  StorageStats stats() { return storage.stats(Device::cpu()); }
};

TEST_F(Statistics, CountWhatIsHandedOutRequestedAndCached) {
  const Block a = storage.allocate(3000, Device::cpu());
  const Block b = storage.allocate(5000, Device::cpu());
  EXPECT_EQ(stats().in_use, 3 * kPage);
  EXPECT_EQ(stats().requested, 8000u);
  EXPECT_EQ(stats().cached, 0u);
  storage.release(a);
  EXPECT_EQ(stats().in_use, 2 * kPage);
  EXPECT_EQ(stats().requested, 5000u);
  EXPECT_EQ(stats().cached, kPage);
  storage.release_direct(b);
  EXPECT_EQ(stats().in_use, 0u);
  EXPECT_EQ(stats().requested, 0u);
  EXPECT_EQ(stats().cached, kPage);
  EXPECT_EQ(memory.used(), kPage);
}

TEST_F(Statistics, CountHitsMissesAndFlushes) {
  storage.release(storage.allocate(1, Device::cpu()));
  storage.release(storage.allocate(2, Device::cpu()));
  storage.release(storage.allocate(3, Device::cpu()));
  EXPECT_EQ(stats().misses, 1u);
  EXPECT_EQ(stats().hits, 2u);
  EXPECT_EQ(stats().system_allocations, 1u);
  EXPECT_EQ(stats().flushes, 0u);
  storage.empty_cache(Device::cpu());
  EXPECT_EQ(stats().flushes, 1u);
  EXPECT_EQ(stats().cached, 0u);
  EXPECT_EQ(memory.used(), 0u);
}

TEST_F(Statistics, PeaksAreExactForOneThreadAndStartAnewAtAReset) {
  const Block a = storage.allocate(10 * kPage, Device::cpu());
  storage.release(storage.allocate(7 * kPage, Device::cpu()));
  storage.release(storage.allocate(3 * kPage, Device::cpu()));
  EXPECT_EQ(stats().peak_in_use, 17 * kPage);
  EXPECT_EQ(stats().peak_footprint, 20 * kPage);
  storage.reset_peak(Device::cpu());
  EXPECT_EQ(stats().peak_in_use, 10 * kPage);
  EXPECT_EQ(stats().peak_footprint, 20 * kPage);  // all of it is still held
  storage.empty_cache(Device::cpu());
  storage.reset_peak(Device::cpu());
  EXPECT_EQ(stats().peak_footprint, 10 * kPage);
  storage.release(a);
  EXPECT_EQ(stats().peak_in_use, 10 * kPage);
}

TEST_F(Statistics, PeaksOfManyThreadsAreWithinAGrainOfEachOther) {
  constexpr int kThreads = 4;
  constexpr std::size_t kEach = 40 << 20;
  std::barrier all_hold(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      std::vector<Block> blocks;
      for (std::size_t got = 0; got < kEach; got += 16 * kPage) {
        blocks.push_back(storage.allocate(16 * kPage, Device::cpu()));
      }
      all_hold.arrive_and_wait();
      for (const Block& block : blocks) storage.release(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::size_t peak = kThreads * kEach;
  EXPECT_LE(stats().peak_in_use, peak);
  EXPECT_GE(stats().peak_in_use, peak - (kThreads - 1) * peak / 32);
  EXPECT_EQ(stats().in_use, 0u);
  EXPECT_EQ(stats().requested, 0u);
}

TEST_F(Statistics, MemoryThatOneThreadFreesBeforeAnotherTakesAsMuchRaisesThePeakOnce) {
  constexpr std::size_t kBytes = 64 << 20;  // far above a grain: what a thread keeps as credit
  const auto take_and_free = [&] {
    storage.release(storage.allocate(kBytes, Device::cpu(), "turn"));
  };
  for (int turn = 0; turn < 3; ++turn) {
    take_and_free();
    std::thread(take_and_free).join();
  }
  EXPECT_EQ(stats().peak_in_use, kBytes);
  EXPECT_EQ(stats().in_use, 0u);
}

TEST_F(Statistics, BlocksFreedByAnotherThreadLeaveNothingBehind) {
  std::vector<Block> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(storage.allocate(kPage, Device::cpu(), "moved"));
  std::thread([&] {
    for (const Block& block : blocks) storage.release(block);
  }).join();
  EXPECT_EQ(stats().in_use, 0u);
  EXPECT_EQ(stats().cached, 100 * kPage);
  EXPECT_EQ(storage.table(Device::cpu()).find("moved"), std::string::npos);
}

TEST_F(Statistics, OfADeviceThatWasNeverUsedAreZero) {
  EXPECT_EQ(storage.stats(Device::gpu(1)).in_use, 0u);
  EXPECT_EQ(storage.stats(Device::gpu(1000)).peak_in_use, 0u);
  storage.empty_cache(Device::gpu());
  storage.reset_peak(Device::gpu());
}

TEST_F(Statistics, OfEveryCpuIdAreThoseOfTheOneCpu) {
  const Block block = storage.allocate(kPage, Device::cpu(7));
  EXPECT_EQ(block.device, Device::cpu(7));
  EXPECT_EQ(storage.stats(Device::cpu(3)).in_use, kPage);
  storage.release(block);
}

TEST_F(Statistics, TableShowsTheLargestTagsWithTheirPeaks) {
  const char same_text[] = "weights";  // another address
  const Block a = storage.allocate(10 * kPage, Device::cpu(), "weights");
  const Block b = storage.allocate(10 * kPage, Device::cpu(), same_text);
  const Block c = storage.allocate(1 * kPage, Device::cpu(), "bias");
  storage.release(storage.allocate(6 * kPage, Device::cpu(), "bias"));
  const std::string table = storage.table(Device::cpu());
  EXPECT_NE(table.find("cpu(0)"), std::string::npos) << table;
  EXPECT_NE(table.find("80.00 KiB, peak 80.00 KiB"), std::string::npos) << table;
  EXPECT_NE(table.find("4.00 KiB, peak 28.00 KiB"), std::string::npos) << table;
  EXPECT_LT(table.find("weights"), table.find("bias")) << table;
  for (const Block& block : {a, b, c}) storage.release(block);
}

TEST_F(Statistics, ManyTagsAreAllCounted) {
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) names.push_back("tag" + std::to_string(i));
  std::vector<Block> blocks;
  for (const std::string& name : names) {
    blocks.push_back(storage.allocate(1, Device::cpu(), name.c_str()));
  }
  blocks.push_back(storage.allocate(2 * kPage, Device::cpu(), names[250].c_str()));
  EXPECT_NE(storage.table(Device::cpu()).find("tag250"), std::string::npos);
  for (const Block& block : blocks) storage.release(block);
  EXPECT_EQ(storage.table(Device::cpu()).find("tag"), std::string::npos);
}

// Leaked at the end of the test, as hooks.h asks; counts for the test that installed it.
class Ledger final : public Observer {
 public:
  void operation_begin(const char*, Device, uint64_t) override {}
  void operation_end(const char*, Device, uint64_t) override {}
  void memory_event(Device device, const char* tag, int64_t bytes) override {
    ++events;
    balance += bytes;
    last_tag = tag;
    last_device = device;
  }
  int events = 0;
  int64_t balance = 0;
  const char* last_tag = nullptr;
  Device last_device;
};

TEST_F(Statistics, ObserverSeesEveryBlockComeAndGo) {
  Ledger ledger;
  g_observer = &ledger;
  const Block a = storage.allocate(kPage - 100, Device::cpu(2), "a");
  EXPECT_EQ(ledger.balance, static_cast<int64_t>(kPage));
  EXPECT_STREQ(ledger.last_tag, "a");
  EXPECT_EQ(ledger.last_device, Device::cpu(2));
  storage.release(a);
  EXPECT_EQ(ledger.balance, 0);
  storage.release_direct(storage.allocate(100, Device::cpu()));
  EXPECT_EQ(ledger.balance, 0);
  EXPECT_EQ(ledger.events, 4);
  storage.release(storage.allocate(0, Device::cpu()));
  EXPECT_EQ(ledger.events, 4);
  g_observer = nullptr;
}

TEST_F(Statistics, ZeroBytesAreNoMemory) {
  const Block nothing = storage.allocate(0, Device::cpu());
  EXPECT_EQ(nothing.data, nullptr);
  storage.release(nothing);
  storage.release_direct(nothing);
  EXPECT_EQ(stats().hits + stats().misses, 0u);
}

TEST_F(Statistics, UnknownDevicesAreTheCallersError) {
  FakeMemory gpu;
  Storage both(StorageConfig(), with_gpu(memory, gpu));
  for (const int id : {-1, 2, 64, 1 << 30}) {
    EXPECT_NE(error_of(ErrorCode::kValue, [&] { both.allocate(1, Device::gpu(id)); })
                  .find("given device id"),
              std::string::npos)
        << id;
  }
}

}  // namespace
}  // namespace mxnet::testing
