// SPDX-License-Identifier: Apache-2.0
// Devices and memory through the C ABI. The machine may or may not have a GPU: both are tested for
// what they must say.
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "storage/storage.h"

namespace {

constexpr int kCpu = 1, kGpu = 2, kPinned = 3, kShared = 5;

TEST(Gpu, CountIsNeverAnError) {
  int count = -1;
  ASSERT_EQ(MXGetGPUCount(&count), 0) << MXGetLastError();
  EXPECT_GE(count, 0);
}

TEST(Gpu, OneThatIsNotThereIsNamed) {
  uint64_t free_bytes = 7, total = 7;
  EXPECT_EQ(MXGetGPUMemoryInformation64(1000, &free_bytes, &total), -1);
  EXPECT_NE(std::string(MXGetLastError()).find("gpu(1000)"), std::string::npos) << MXGetLastError();
  EXPECT_EQ(free_bytes, 7U);
  EXPECT_EQ(total, 7U);
  int small = 7;
  EXPECT_EQ(MXGetGPUMemoryInformation(-1, &small, &small), -1);
  EXPECT_EQ(small, 7);
}

void ask_simulated_gpus() {
  ::setenv("MXNET_SIM_GPUS", "2", 1);
  ::setenv("MXNET_SIM_GPU_MEMORY_BYTES", "4294967296", 1);
  int count = 0, small_free = 0, small_total = 0;
  uint64_t free_bytes = 0, total = 0;
  const bool ok = MXGetGPUCount(&count) == 0 && count == 2 &&
                  MXGetGPUMemoryInformation64(1, &free_bytes, &total) == 0 && total == 4294967296 &&
                  free_bytes <= total &&
                  MXGetGPUMemoryInformation(0, &small_free, &small_total) == 0 &&
                  small_total == INT_MAX && MXStorageEmptyCache(kGpu, 1) == 0;
  if (!ok) ::fprintf(stderr, "%s\n", MXGetLastError());
  ::_exit(ok ? 0 : 1);
}

TEST(GpuDeathTest, MemoryOfASimulatedOne) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ask_simulated_gpus(), testing::ExitedWithCode(0), "");
}

TEST(Cpu, MemoryIsTheMachinesOrItsGroups) {
  uint64_t free_bytes = 0, total = 0;
  ASSERT_EQ(MXGetCPUMemoryInformation(&free_bytes, &total), 0) << MXGetLastError();
  EXPECT_GT(total, 0U);
  EXPECT_LE(free_bytes, total);
}

TEST(Storage, EmptyCacheTakesEveryKindOfHostMemoryAndAnyId) {
  for (const int kind : {kCpu, kPinned, kShared}) {
    for (const int id : {0, 7}) EXPECT_EQ(MXStorageEmptyCache(kind, id), 0) << MXGetLastError();
  }
}

TEST(Storage, UnknownKindOfDeviceIsAnError) {
  for (const int kind : {-1, 0, 4, 6, INT_MAX}) {
    EXPECT_EQ(MXStorageEmptyCache(kind, 0), -1);
    EXPECT_NE(std::string(MXGetLastError()).find("device type"), std::string::npos);
  }
}

TEST(Storage, StatisticsFollowAnAllocation) {
  ASSERT_EQ(MXNDArrayWaitAll(), 0) << MXGetLastError();  // what other tests have let go is gone
  MXStorageStatistics before{}, during{}, after{};
  ASSERT_EQ(MXStorageGetStatistics(kCpu, 0, &before, sizeof(before)), 0) << MXGetLastError();
  mxnet::Storage& storage = mxnet::Storage::get();
  const mxnet::Block block = storage.allocate(100'000, mxnet::Device::cpu(), "test");
  ASSERT_EQ(MXStorageGetStatistics(kCpu, 0, &during, sizeof(during)), 0);
  storage.release(block);
  ASSERT_EQ(MXStorageGetStatistics(kCpu, 0, &after, sizeof(after)), 0);
  EXPECT_EQ(during.requested - before.requested, 100'000U);
  EXPECT_GE(during.in_use - before.in_use, 100'000U);
  EXPECT_GE(during.peak_in_use, during.in_use);
  EXPECT_EQ(after.requested, before.requested);
}

TEST(Storage, PeakIsReset) {
  mxnet::Storage& storage = mxnet::Storage::get();
  ASSERT_EQ(MXNDArrayWaitAll(), 0) << MXGetLastError();
  storage.release(storage.allocate(1 << 20, mxnet::Device::cpu(), "test"));
  ASSERT_EQ(MXStorageResetPeak(kCpu, 0), 0) << MXGetLastError();
  MXStorageStatistics now{};
  ASSERT_EQ(MXStorageGetStatistics(kCpu, 0, &now, sizeof(now)), 0);
  EXPECT_EQ(now.peak_in_use, now.in_use);
}

TEST(Storage, OlderCallersGetThePartTheyKnow) {
  MXStorageStatistics part;
  std::memset(&part, 0xee, sizeof(part));
  ASSERT_EQ(MXStorageGetStatistics(kCpu, 0, &part, sizeof(uint64_t)), 0);
  EXPECT_NE(part.in_use, 0xeeeeeeeeeeeeeeeeU);
  EXPECT_EQ(part.requested, 0xeeeeeeeeeeeeeeeeU);
}

TEST(Storage, TableNamesItsDevice) {
  const char* table = nullptr;
  ASSERT_EQ(MXStorageGetTable(kCpu, 0, &table), 0) << MXGetLastError();
  EXPECT_NE(std::string(table).find("cpu"), std::string::npos) << table;
}

}  // namespace
