// SPDX-License-Identifier: Apache-2.0
// device_api() and gpu_count() with other apis in place, and copies that choose the api themselves.
#include "device/device_registry.h"

#include "base/error.h"
#include "device/device_copy.h"
#include "sim_fixture.h"

namespace mxnet::testing {
namespace {

TEST(DeviceRegistry, OneApiServesAllHostKinds) {
  DeviceApi& cpu = device_api(DeviceType::kCPU);
  EXPECT_STREQ(cpu.name(), "cpu");
  EXPECT_EQ(&device_api(DeviceType::kCPUPinned), &cpu);
  EXPECT_EQ(&device_api(DeviceType::kCPUShared), &cpu);
}

TEST(DeviceRegistry, OverrideHoldsAsLongAsItLives) {
  SimDeviceApi sim(sim_config(5));
  {
    DeviceApiOverride gpus(DeviceType::kGPU, sim);
    EXPECT_EQ(&device_api(DeviceType::kGPU), &sim);
    EXPECT_EQ(gpu_count(), 5);
    EXPECT_EQ(cuda_plugin(), nullptr);
    EXPECT_STREQ(device_api(DeviceType::kCPU).name(), "cpu");
  }
  EXPECT_NE(gpu_count(), 5);
}

TEST(DeviceRegistry, SecondOverrideIsRefused) {
  SimDeviceApi sim(sim_config(1));
  DeviceApiOverride first(DeviceType::kGPU, sim);
  EXPECT_THROW(DeviceApiOverride(DeviceType::kGPU, sim), Error);
  EXPECT_EQ(&device_api(DeviceType::kGPU), &sim);
}

class DeviceCopy : public ::testing::Test {
 protected:
  SimDeviceApi sim_{sim_config(2)};
  DeviceApiOverride gpus_{DeviceType::kGPU, sim_};
};

TEST_F(DeviceCopy, BetweenHostsNeedsNoStream) {
  const int sent = 4;
  int received = 0;
  copy(&received, Device::cpu_pinned(), &sent, Device::cpu(), sizeof(int));
  EXPECT_EQ(received, 4);
}

TEST_F(DeviceCopy, WithoutAStreamIsDoneOnReturn) {
  SimBlock a(sim_, 0, 4), b(sim_, 1, 4);
  const int sent = 11;
  int received = 0;
  copy(a.data(), Device::gpu(0), &sent, Device::cpu(), 4);
  copy(b.data(), Device::gpu(1), a.data(), Device::gpu(0), 4);
  copy(&received, Device::cpu(), b.data(), Device::gpu(1), 4);
  EXPECT_EQ(received, 11);
}

TEST_F(DeviceCopy, WithoutAStreamThrowsItsErrors) {
  SimBlock a(sim_, 0, 4);
  const int sent = 11;
  sim_.control().fail_copy(0);
  EXPECT_THROW(copy(a.data(), Device::gpu(0), &sent, Device::cpu(), 4), Error);
}

TEST_F(DeviceCopy, OnAStreamKeepsItsOrder) {
  SimBlock a(sim_, 0, 4);
  Stream stream(sim_, 0);
  auto* pinned = static_cast<int*>(sim_.allocate_pinned(4));
  *pinned = 1;
  Gate gate;
  gate.close(stream);
  copy(a.data(), Device::gpu(0), pinned, Device::cpu_pinned(), 4, &stream);
  *pinned = 12;
  gate.open();
  int received = 0;
  copy(&received, Device::cpu(), a.data(), Device::gpu(0), 4, &stream);
  stream.synchronize();
  EXPECT_EQ(received, 12);
  sim_.release_pinned(pinned, 4);
}

}  // namespace
}  // namespace mxnet::testing
