// SPDX-License-Identifier: Apache-2.0
// Copies, capacity, links, kernels and injected failures of the simulator.
#include <array>
#include <numeric>
#include <vector>

#include "base/config.h"
#include "base/error.h"
#include "device/device_links.h"
#include "device/sim/sim_translate.h"
#include "faulty_device_api.h"
#include "sim_fixture.h"

namespace mxnet::testing {
namespace {

class SimDevice : public ::testing::Test {
 protected:
  SimDeviceApi api_{sim_config(3)};

  void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
            Stream& stream) {
    api_.copy(to, to_device, from, from_device, bytes, stream.native());
  }
};

// Rows MXNET_SIM_GPUS and MXNET_SIM_GPU_MEMORY_BYTES.
TEST_F(SimDevice, CountComesFromConfig) {
  for (const int count : {1, 2, 64}) {
    SimDeviceApi api(sim_config(count, 1 << 20));
    EXPECT_EQ(api.device_count(), count);
    EXPECT_NO_THROW(api.properties(count - 1));
    EXPECT_THROW(api.properties(count), Error);
  }
}

TEST_F(SimDevice, CapacityComesFromConfig) {
  for (const int64_t bytes : {int64_t{1} << 20, int64_t{3} << 20, int64_t{1} << 36}) {
    SimDeviceApi api(sim_config(2, bytes));
    EXPECT_EQ(api.memory_info(1).total, static_cast<std::size_t>(bytes));
    EXPECT_EQ(api.properties(1).total_memory, static_cast<std::size_t>(bytes));
    void* all = api.allocate(1, bytes);
    EXPECT_NE(all, nullptr);
    EXPECT_EQ(api.memory_info(1).free, 0u);
    EXPECT_EQ(api.allocate(1, 1), nullptr);
    EXPECT_NE(api.allocate(0, 1), nullptr);  // the other device has its own
    api.release(1, all, bytes);
    EXPECT_EQ(api.memory_info(1).free, static_cast<std::size_t>(bytes));
  }
}

// Row MXNET_SIM_GPU_LINKS.
TEST_F(SimDevice, LinksComeFromConfig) {
  DeviceConfig config = sim_config(3);
  config.sim_links = "0 2 0; 2,0,0.5 ;0 0.5 0";
  SimDeviceApi api(config);
  EXPECT_EQ(link_weights(api), (std::vector<double>{0, 2, 0, 2, 0, 0.5, 0, 0.5, 0}));
  EXPECT_TRUE(api.can_access_peer(0, 1));
  EXPECT_FALSE(api.can_access_peer(0, 2));
  EXPECT_EQ(link_weights(api_), std::vector<double>(9, 1.0)) << "without the row all are alike";
}

TEST_F(SimDevice, LinksThatAreNoSymmetricMatrixAreRefused) {
  for (const char* links : {"0 1", "0 1; 1", "0 1; 1 0; 0 0", "0 1; 2 0", "0 -1; -1 0", "0 x; x 0",
                            "0 inf; inf 0", "0 1; 1 0;", "0 1 0; 1 0 0"}) {
    DeviceConfig config = sim_config(2);
    config.sim_links = links;
    try {
      SimDeviceApi api(config);
      ADD_FAILURE() << "accepted '" << links << "'";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("MXNET_SIM_GPU_LINKS"), std::string::npos);
    }
  }
}

// A device that knows nothing of weights has links of 1 where it reaches its peers' memory.
TEST_F(SimDevice, LinksOfOtherDevicesFollowFromTheirAccess) {
  api_.control().set_link(0, 1, false);
  FaultyDeviceApi plain(api_);
  EXPECT_EQ(link_weights(plain), (std::vector<double>{0, 0, 1, 0, 0, 1, 1, 1, 0}));
}

TEST_F(SimDevice, DevicesHaveAddressesOfTheirOwn) {
  SimBlock a(api_, 0, 64), b(api_, 1, 64);
  EXPECT_NE(a.data(), b.data());
  Stream stream(api_, 1);
  std::array<char, 64> host{};
  EXPECT_THROW(copy(a.data(), Device::gpu(1), host.data(), Device::cpu(), 64, stream), Error);
}

TEST_F(SimDevice, CopyFromPinnedMemoryDoesNotWait) {
  Stream stream(api_, 0);
  SimBlock block(api_, 0, 4);
  auto* pinned = static_cast<int*>(api_.allocate_pinned(4));
  *pinned = 1;
  Gate gate;
  gate.close(stream);
  copy(block.data(), Device::gpu(0), pinned, Device::cpu_pinned(), 4, stream);
  *pinned = 2;  // the copy has not begun: it will see this
  gate.open();
  int back = 0;
  copy(&back, Device::cpu(), block.data(), Device::gpu(0), 4, stream);
  EXPECT_EQ(back, 2);
  api_.release_pinned(pinned, 4);
}

TEST_F(SimDevice, CopyFromPageableMemoryIsDoneOnReturn) {
  Stream stream(api_, 0);
  SimBlock block(api_, 0, 4);
  int host = 1;
  copy(block.data(), Device::gpu(0), &host, Device::cpu(), 4, stream);
  host = 2;  // too late
  copy(&host, Device::cpu(), block.data(), Device::gpu(0), 4, stream);
  EXPECT_EQ(host, 1);
}

TEST_F(SimDevice, CopyBetweenDevicesGoesOverTheLink) {
  Stream stream(api_, 1);
  SimBlock a(api_, 0, 4), b(api_, 1, 4);
  int host = 77;
  Stream first(api_, 0);
  copy(a.data(), Device::gpu(0), &host, Device::cpu(), 4, first);
  copy(b.data(), Device::gpu(1), a.data(), Device::gpu(0), 4, stream);
  int back = 0;
  copy(&back, Device::cpu(), b.data(), Device::gpu(1), 4, stream);
  EXPECT_EQ(back, 77);
  EXPECT_EQ(api_.control().stats(1).peer, 1u);
  EXPECT_EQ(api_.control().stats(1).staged, 0u);
}

TEST_F(SimDevice, WithoutALinkTheCopyGoesThroughTheHost) {
  api_.control().set_link(0, 1, false);
  EXPECT_FALSE(api_.can_access_peer(0, 1));
  EXPECT_FALSE(api_.can_access_peer(1, 0));
  EXPECT_TRUE(api_.can_access_peer(0, 2));
  EXPECT_THROW(api_.enable_peer_access(0, 1), Error);
  EXPECT_NO_THROW(api_.enable_peer_access(0, 2));
  Stream stream(api_, 1);
  SimBlock a(api_, 0, 4), b(api_, 1, 4);
  int host = 78;
  Stream first(api_, 0);
  copy(a.data(), Device::gpu(0), &host, Device::cpu(), 4, first);
  copy(b.data(), Device::gpu(1), a.data(), Device::gpu(0), 4, stream);
  int back = 0;
  copy(&back, Device::cpu(), b.data(), Device::gpu(1), 4, stream);
  EXPECT_EQ(back, 78);
  EXPECT_EQ(api_.control().stats(1).peer, 0u);
  EXPECT_EQ(api_.control().stats(1).staged, 1u);
  api_.control().set_link(0, 1, true);
  EXPECT_TRUE(api_.can_access_peer(0, 1));
}

TEST_F(SimDevice, CopyNeedsAGpuAndItsStream) {
  Stream stream(api_, 0);
  SimBlock block(api_, 1, 4);
  int a = 0, b = 0;
  EXPECT_THROW(copy(&a, Device::cpu(), &b, Device::cpu(), 4, stream), Error);
  EXPECT_THROW(copy(block.data(), Device::gpu(1), &a, Device::cpu(), 4, stream), Error);
  EXPECT_THROW(api_.copy(block.data(), Device::gpu(1), &a, Device::cpu(), 4, nullptr), Error);
}

TEST_F(SimDevice, CopyBeyondTheBlockIsAnErrorAtOnce) {
  Stream stream(api_, 0);
  SimBlock block(api_, 0, 256);
  std::array<char, 512> host{};
  EXPECT_THROW(copy(block.data(), Device::gpu(0), host.data(), Device::cpu(), 257, stream), Error);
  EXPECT_THROW(api_.fill(0, block.data(), 0, 257, stream.native()), Error);
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(SimDevice, ReleaseWaitsForTheDevicesWork) {
  Stream stream(api_, 0);
  void* block = api_.allocate(0, 4);
  void* pinned = api_.allocate_pinned(4);
  bool filled = false;
  api_.control().set_copy_delay(0, std::chrono::milliseconds(5));  // else the work is done anyway
  copy(block, Device::gpu(0), pinned, Device::cpu_pinned(), 4, stream);
  api_.fill(0, block, 7, 4, stream.native());
  api_.host_call(0, stream.native(), [&] { filled = true; });
  api_.release(0, block, 4);
  EXPECT_TRUE(filled);
  EXPECT_NO_THROW(stream.synchronize());
  api_.release_pinned(pinned, 4);
}

TEST_F(SimDevice, PinnedMemoryIsReleasedAtOnceAndLivesUntilTheWorkBeforeIsDone) {
  Stream stream(api_, 0);
  SimBlock block(api_, 0, 4);
  auto* pinned = static_cast<int*>(api_.allocate_pinned(4));
  *pinned = 5;
  Gate gate;
  gate.close(stream);
  copy(block.data(), Device::gpu(0), pinned, Device::cpu_pinned(), 4, stream);
  api_.release_pinned(pinned, 4);  // waited for the gate once
  gate.open();
  int back = 0;
  copy(&back, Device::cpu(), block.data(), Device::gpu(0), 4, stream);
  EXPECT_EQ(back, 5);
}

TEST_F(SimDevice, KernelReachesItsMemoryThroughTranslate) {
  Stream stream(api_, 0);
  SimBlock x(api_, 0, 400);
  std::vector<float> host(100);
  std::iota(host.begin(), host.end(), 0.f);
  copy(x.data(), Device::gpu(0), host.data(), Device::cpu(), 400, stream);
  api_.host_call(0, stream.native(), [data = x.data()] {
    auto* values = static_cast<float*>(sim_translate(data, 400));
    for (int i = 0; i < 100; ++i) values[i] *= 2;
  });
  copy(host.data(), Device::cpu(), x.data(), Device::gpu(0), 400, stream);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(host[i], 2.f * i);
  EXPECT_EQ(api_.control().stats(0).host_calls, 1u);
}

TEST_F(SimDevice, KernelReachesWhatAGpuReachesAndNoMore) {
  Stream stream(api_, 0);
  SimBlock mine(api_, 0, 64), peers(api_, 1, 64);
  void* pinned = api_.allocate_pinned(64);
  std::array<char, 64> pageable{};
  const auto reaches = [&](const void* data, std::size_t bytes) {
    api_.host_call(0, stream.native(), [data, bytes] { sim_translate(data, bytes); });
    try {
      stream.synchronize();
      return true;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kValue);
      return false;
    }
  };
  EXPECT_TRUE(reaches(mine.data(), 64));
  EXPECT_FALSE(reaches(mine.data(), 300));
  EXPECT_TRUE(reaches(pinned, 64));
  EXPECT_FALSE(reaches(pageable.data(), 64));
  EXPECT_FALSE(reaches(peers.data(), 64));
  api_.enable_peer_access(0, 1);
  EXPECT_TRUE(reaches(peers.data(), 64));
  api_.release_pinned(pinned, 64);
  EXPECT_FALSE(reaches(pinned, 64));
}

TEST_F(SimDevice, TranslateOutsideOfAKernelIsOurFault) {
  SimBlock block(api_, 0, 4);
  try {
    sim_translate(block.data(), 4);
    FAIL() << "the host got a device's memory";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInternal);
  }
}

TEST_F(SimDevice, NthAllocationFails) {
  api_.control().fail_allocation(0, 2);
  SimBlock first(api_, 0, 16), second(api_, 0, 16), third(api_, 0, 16), other(api_, 1, 16);
  EXPECT_NE(first.data(), nullptr);
  EXPECT_EQ(second.data(), nullptr);
  EXPECT_NE(third.data(), nullptr);
  EXPECT_NE(other.data(), nullptr);
  EXPECT_EQ(api_.control().stats(0).allocations, 2u);
  EXPECT_EQ(api_.control().stats(0).failed_allocations, 1u);
}

TEST_F(SimDevice, FailedCopySurfacesOnceAtSynchronize) {
  Stream stream(api_, 0);
  SimBlock block(api_, 0, 4);
  int host = 5;
  copy(block.data(), Device::gpu(0), &host, Device::cpu(), 4, stream);
  api_.control().fail_copy(0, 1, "the bus is on fire");
  int back = 6;
  EXPECT_NO_THROW(copy(&back, Device::cpu(), block.data(), Device::gpu(0), 4, stream));
  try {
    stream.synchronize();
    FAIL() << "expected the injected error";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "the bus is on fire");
  }
  EXPECT_EQ(back, 6);
  EXPECT_NO_THROW(stream.synchronize());
  copy(&back, Device::cpu(), block.data(), Device::gpu(0), 4, stream);
  stream.synchronize();
  EXPECT_EQ(back, 5);
}

TEST_F(SimDevice, EventsTellOfWhatFailedBeforeThemUntilTheStreamDoes) {
  Stream stream(api_, 0);
  Event before(api_, 0), after(api_, 0);
  SimBlock a(api_, 0, 4), b(api_, 0, 4);
  before.record(stream);
  api_.control().fail_copy(0);
  copy(b.data(), Device::gpu(0), a.data(), Device::gpu(0), 4, stream);
  after.record(stream);
  EXPECT_THROW(after.synchronize(), Error);
  EXPECT_NO_THROW(before.synchronize());
  EXPECT_THROW(after.synchronize(), Error);
  EXPECT_THROW(stream.synchronize(), Error);
  EXPECT_NO_THROW(after.synchronize());
}

TEST_F(SimDevice, SlowCopiesStillKeepOrder) {
  api_.control().set_copy_delay(0, std::chrono::microseconds(500));
  Stream stream(api_, 0);
  SimBlock block(api_, 0, 4);
  auto* pinned = static_cast<int*>(api_.allocate_pinned(8));
  pinned[0] = 9;
  pinned[1] = 0;
  copy(block.data(), Device::gpu(0), pinned, Device::cpu_pinned(), 4, stream);
  copy(pinned + 1, Device::cpu_pinned(), block.data(), Device::gpu(0), 4, stream);
  int seen = 0;
  api_.host_call(0, stream.native(), [&seen, pinned] { seen = pinned[1]; });
  stream.synchronize();
  EXPECT_EQ(seen, 9);
  api_.release_pinned(pinned, 8);
}

TEST_F(SimDevice, CountsCopiesByKind) {
  Stream stream(api_, 0);
  SimBlock a(api_, 0, 100), b(api_, 0, 100);
  std::array<char, 100> host{};
  copy(a.data(), Device::gpu(0), host.data(), Device::cpu(), 100, stream);
  copy(b.data(), Device::gpu(0), a.data(), Device::gpu(0), 60, stream);
  copy(host.data(), Device::cpu(), b.data(), Device::gpu(0), 40, stream);
  const SimStats stats = api_.control().stats(0);
  EXPECT_EQ(stats.host_to_device, 1u);
  EXPECT_EQ(stats.within_device, 1u);
  EXPECT_EQ(stats.device_to_host, 1u);
  EXPECT_EQ(stats.copied_bytes, 200u);
}

TEST_F(SimDevice, ControlIsFoundOnlyOnASimulator) {
  EXPECT_EQ(sim_control(api_), &api_.control());
  EXPECT_EQ(sim_control(device_api(DeviceType::kCPU)), nullptr);
  EXPECT_THROW(api_.control().fail_copy(3), Error);
  EXPECT_THROW(api_.control().stats(-1), Error);
}

}  // namespace
}  // namespace mxnet::testing
