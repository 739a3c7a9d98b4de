// SPDX-License-Identifier: Apache-2.0
// Blocks of a device are reused in the order of its streams: at once on the same stream, elsewhere
// only behind the work that still uses them, without the host waiting.
#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "base/config.h"
#include "device/faulty_device_api.h"
#include "device/sim/sim_device_api.h"
#include "fake_memory.h"

namespace mxnet::testing {
namespace {

constexpr std::size_t kMiB = 1 << 20;

DeviceConfig one_gpu() {
  DeviceConfig config;
  config.sim_gpus = 1;
  config.sim_memory_bytes = 64 * kMiB;
  return config;
}

// Work on a stream that does not end before it is told to.
class Busy {
 public:
  explicit Busy(Stream& stream) {
    stream.api().host_call(stream.device(), stream.native(),
                           [opened = gate_.get_future().share()] { opened.wait(); });
  }
  ~Busy() { end(); }
  void end() {
    if (!std::exchange(ended_, true)) gate_.set_value();
  }

 private:
  std::promise<void> gate_;
  bool ended_ = false;
};

struct Streams {
  CpuDeviceApi host;
  SimDeviceApi sim{one_gpu()};
  FaultyDeviceApi gpu{sim};
  std::unique_ptr<Storage> storage = make(StorageConfig());
  Stream a{gpu, 0}, b{gpu, 0};

  std::unique_ptr<Storage> make(const StorageConfig& config) {
    return std::make_unique<Storage>(config, with_gpu(host, gpu));
  }
  uint64_t waits() { return gpu.counters().waits; }
};

struct StreamOrder : ::testing::TestWithParam<Device>, Streams {
  Block get(Stream* stream) { return storage->allocate(kMiB, GetParam(), nullptr, stream); }
};

TEST_P(StreamOrder, TheSameStreamGetsItsBlockBackAtOnce) {
  const Block first = get(&a);
  Busy work(a);
  storage->release(first, &a);
  const Block second = get(&a);
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(waits(), 0u);
  storage->release(second, &a);
}

TEST_P(StreamOrder, AnotherStreamWaitsForTheWorkAndTheHostDoesNot) {
  const Block first = get(&a);
  Busy work(a);
  storage->release(first, &a);
  const Block second = get(&b);  // would hang here if the host waited
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(waits(), 1u);
  // And really waits: what is put on b now happens after the work on a.
  bool a_is_done = false, seen_by_b = false;
  gpu.host_call(0, a.native(), [] {});
  std::promise<void> reached;
  gpu.host_call(0, b.native(), [&] {
    seen_by_b = a_is_done;
    reached.set_value();
  });
  a_is_done = true;  // ordered before b's call by the gate
  work.end();
  reached.get_future().wait();
  EXPECT_TRUE(seen_by_b);
  storage->release(second, &b);
}

TEST_P(StreamOrder, FinishedWorkNeedsNoWait) {
  const Block first = get(&a);
  storage->release(first, &a);
  a.synchronize();
  const Block second = get(&b);
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(waits(), 0u);
  storage->release(second, &b);
}

TEST_P(StreamOrder, AnOwnBlockIsPreferredToAnotherStreams) {
  const Block one = get(&a), two = get(&b);
  Busy work_a(a), work_b(b);
  storage->release(one, &a);
  storage->release(two, &b);
  const Block again = get(&a);
  EXPECT_EQ(again.data, one.data);
  EXPECT_EQ(waits(), 0u);
  storage->release(again, &a);
}

TEST_P(StreamOrder, AUserWithoutAStreamGetsOnlyWhatIsFinished) {
  // So much in use that the pool need not trim its cache, which would wait for the work.
  const Block live = storage->allocate(16 * kMiB, GetParam());
  const Block first = get(&a);
  Busy work(a);
  storage->release(first, &a);
  const Block fresh = get(nullptr);
  EXPECT_NE(fresh.data, first.data);
  work.end();
  a.synchronize();
  const Block second = get(nullptr);
  EXPECT_EQ(second.data, first.data);
  for (const Block& block : {second, fresh, live}) storage->release(block);
}

TEST_P(StreamOrder, EmptyCacheWaitsForTheWork) {
  const Block first = get(&a);
  auto work = std::make_unique<Busy>(a);
  storage->release(first, &a);
  auto emptied = std::async(std::launch::async, [&] { storage->empty_cache(GetParam()); });
  work->end();
  emptied.wait();
  EXPECT_EQ(storage->stats(GetParam()).cached, 0u);
  EXPECT_EQ(gpu.counters().live_bytes + gpu.counters().live_pinned_bytes, 0u);
}

TEST_P(StreamOrder, UnpooledMemoryGoesBackOnlyAfterTheWork) {
  StorageConfig config;
  config.use_naive_managers = 1;
  storage = make(config);
  const Block first = get(&a);
  auto work = std::make_unique<Busy>(a);
  auto released = std::async(std::launch::async, [&] { storage->release(first, &a); });
  EXPECT_EQ(gpu.counters().releases + gpu.counters().pinned_releases, 0u);
  work->end();
  released.wait();
  EXPECT_EQ(gpu.counters().releases + gpu.counters().pinned_releases, 1u);
}

TEST_P(StreamOrder, EventsAreReusedAndNotLeaked) {
  for (int i = 0; i < 100; ++i) storage->release(get(&a), &a);
  EXPECT_LE(gpu.counters().events_created, 2u);
  storage.reset();
  EXPECT_EQ(gpu.counters().events_created, gpu.counters().events_destroyed);
}

TEST_P(StreamOrder, BlocksOutliveTheirStream) {
  {
    Stream short_lived(gpu, 0);
    storage->release(get(&short_lived), &short_lived);
  }
  const Block block = get(&b);
  EXPECT_EQ(storage->stats(GetParam()).misses, 1u);
  storage->release(block, &b);
}

INSTANTIATE_TEST_SUITE_P(Storage, StreamOrder,
                         ::testing::Values(Device::gpu(), Device::cpu_pinned()),
                         [](const auto& info) {
                           return info.param.is_gpu() ? "Gpu" : "CpuPinned";
                         });

struct StreamOrderOfGpus : ::testing::Test, Streams {};

TEST_F(StreamOrderOfGpus, AFullDeviceWaitsForUnfinishedWorkBeforeItGivesUp) {
  const Block most = storage->allocate(60 * kMiB, Device::gpu(), nullptr, &a);
  auto work = std::make_unique<Busy>(a);
  storage->release(most, &a);
  auto next = std::async(std::launch::async,
                         [&] { return storage->allocate(50 * kMiB, Device::gpu(), nullptr, &b); });
  work->end();
  const Block block = next.get();
  EXPECT_NE(block.data, nullptr);
  storage->release(block, &b);
}

TEST_F(StreamOrderOfGpus, ManyStreamsShareTheLanesCorrectly) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 40; ++i) streams.push_back(std::make_unique<Stream>(gpu, 0));
  for (int round = 0; round < 3; ++round) {
    std::vector<Block> blocks;
    for (auto& stream : streams) {
      blocks.push_back(storage->allocate(kMiB, Device::gpu(), nullptr, stream.get()));
      gpu.fill(0, blocks.back().data, 1, kMiB, stream->native());
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) storage->release(blocks[i], streams[i].get());
  }
  EXPECT_EQ(storage->stats(Device::gpu()).misses, 40u);
  EXPECT_EQ(storage->stats(Device::gpu()).in_use, 0u);
}

}  // namespace
}  // namespace mxnet::testing
