// SPDX-License-Identifier: Apache-2.0
// The fault injector itself: a test that trusts it must be able to.
#include "faulty_device_api.h"

#include <vector>

#include "device/cpu/cpu_device_api.h"
#include "sim_fixture.h"

namespace mxnet::testing {
namespace {

TEST(FaultyDevice, CapacityIsPerDeviceAndExact) {
  SimDeviceApi sim(sim_config(2));
  FaultyDeviceApi api(sim);
  api.set_capacity(1000);
  void* a = api.allocate(0, 600);
  EXPECT_NE(a, nullptr);
  EXPECT_EQ(api.memory_info(0).free, 400u);
  EXPECT_EQ(api.memory_info(0).total, 1000u);
  EXPECT_EQ(api.properties(0).total_memory, 1000u);
  EXPECT_EQ(api.allocate(0, 401), nullptr);
  void* b = api.allocate(0, 400);
  EXPECT_NE(b, nullptr);
  void* c = api.allocate(1, 1000);
  EXPECT_NE(c, nullptr);
  api.release(0, a, 600);
  EXPECT_EQ(api.memory_info(0).free, 600u);
  api.release(0, b, 400);
  api.release(1, c, 1000);
  EXPECT_EQ(api.counters().failed_allocations, 1u);
  EXPECT_EQ(api.counters().live_bytes, 0u);
  EXPECT_EQ(api.counters().peak_bytes, 2000u);
}

TEST(FaultyDevice, AllocationsFailInTheirTurn) {
  CpuDeviceApi cpu;
  FaultyDeviceApi api(cpu);
  api.fail_allocations(1, 2);
  std::vector<bool> worked;
  for (int i = 0; i < 5; ++i) {
    void* data = api.allocate(0, 8);
    worked.push_back(data != nullptr);
    api.release(0, data, 8);
  }
  EXPECT_EQ(worked, (std::vector<bool>{true, false, false, true, true}));
}

TEST(FaultyDevice, PinnedCapacityIsItsOwn) {
  CpuDeviceApi cpu;
  FaultyDeviceApi api(cpu);
  api.set_pinned_capacity(100);
  void* data = api.allocate_pinned(100);
  EXPECT_NE(data, nullptr);
  EXPECT_EQ(api.allocate_pinned(1), nullptr);
  api.release_pinned(data, 100);
  EXPECT_EQ(api.counters().live_pinned_bytes, 0u);
  EXPECT_EQ(api.counters().failed_pinned_allocations, 1u);
}

TEST(FaultyDevice, WrongReleasesAreCountedAndKeptFromTheTarget) {
  CpuDeviceApi cpu;
  FaultyDeviceApi api(cpu);
  void* data = api.allocate(0, 64);
  api.release(0, data, 63);
  int not_allocated = 0;
  api.release(0, &not_allocated, 4);
  api.release(0, data, 64);
  api.release(0, data, 64);
  EXPECT_EQ(api.counters().wrong_releases, 3u);
  EXPECT_EQ(api.counters().releases, 1u);
  EXPECT_EQ(api.counters().live_blocks, 0u);
}

TEST(FaultyDevice, CopiesFailInTheirTurn) {
  CpuDeviceApi cpu;
  FaultyDeviceApi api(cpu);
  api.fail_copies(1);
  int from = 1, to = 0;
  EXPECT_NO_THROW(api.copy(&to, Device::cpu(), &from, Device::cpu(), 4, nullptr));
  EXPECT_THROW(api.copy(&to, Device::cpu(), &from, Device::cpu(), 4, nullptr), Error);
  EXPECT_NO_THROW(api.copy(&to, Device::cpu(), &from, Device::cpu(), 4, nullptr));
  EXPECT_EQ(api.counters().copies, 2u);
  EXPECT_EQ(api.counters().copied_bytes, 8u);
}

TEST(FaultyDevice, DelayHoldsTheStreamNotTheCaller) {
  SimDeviceApi sim(sim_config(1));
  FaultyDeviceApi api(sim);
  api.set_copy_delay(std::chrono::microseconds(100));
  Stream stream(api, 0);
  SimBlock block(sim, 0, 4);
  int host = 3;
  api.copy(block.data(), Device::gpu(0), &host, Device::cpu(), 4, stream.native());
  stream.synchronize();
  EXPECT_EQ(sim.control().stats(0).host_calls, 1u);  // the delay, in front of the copy
}

TEST(FaultyDevice, CountsStreamsAndEvents) {
  CpuDeviceApi cpu;
  FaultyDeviceApi api(cpu);
  api.set_device_count(4);
  EXPECT_EQ(api.device_count(), 4);
  {
    Stream stream(api, 3);
    Event event(api, 3);
    event.record(stream);
    event.block(stream);
    stream.synchronize();
  }
  const FaultyDeviceApi::Counters counters = api.counters();
  EXPECT_EQ(counters.streams_created, 1u);
  EXPECT_EQ(counters.streams_destroyed, 1u);
  EXPECT_EQ(counters.events_created, 1u);
  EXPECT_EQ(counters.events_destroyed, 1u);
  EXPECT_EQ(counters.records, 1u);
  EXPECT_EQ(counters.waits, 1u);
  EXPECT_EQ(counters.synchronizes, 1u);
}

}  // namespace
}  // namespace mxnet::testing
