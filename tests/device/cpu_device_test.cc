// SPDX-License-Identifier: Apache-2.0
// What the host does beyond the common contract: any ordinal, memory from malloc or the kernel,
// null streams.
#include "device/cpu/cpu_device_api.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "device/cpu/host_memory.h"

namespace mxnet {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

TEST(CpuDevice, AnyOrdinalIsTheOneCpu) {
  CpuDeviceApi api;
  EXPECT_EQ(api.device_count(), 1);
  EXPECT_EQ(api.properties(7).total_memory, api.properties(0).total_memory);
  void* data = api.allocate(7, 100);
  ASSERT_NE(data, nullptr);
  api.release(0, data, 100);
}

TEST(CpuDevice, NullStreamThrowsAtOnce) {
  CpuDeviceApi api;
  int ran = 0;
  api.host_call(0, nullptr, [&ran] { ran = 1; });
  EXPECT_EQ(ran, 1);
  EXPECT_THROW(api.host_call(0, nullptr, [] { throw Error(ErrorCode::kGeneric, "now"); }), Error);
  EXPECT_NO_THROW(api.synchronize(0, static_cast<NativeStream*>(nullptr)));
}

TEST(CpuDevice, CopiesBetweenAllHostKindsAndNoOther) {
  CpuDeviceApi api;
  const Device kinds[] = {Device::cpu(), Device::cpu(3), Device::cpu_pinned(),
                          Device::cpu_shared()};
  for (const Device from : kinds) {
    for (const Device to : kinds) {
      const int sent = 5;
      int received = 0;
      api.copy(&received, to, &sent, from, sizeof(int), nullptr);
      EXPECT_EQ(received, 5);
    }
  }
  int value = 0;
  EXPECT_THROW(api.copy(&value, Device::gpu(), &value, Device::cpu(), 4, nullptr), Error);
  EXPECT_THROW(api.copy(&value, Device::cpu(), &value, Device::gpu(1), 4, nullptr), Error);
}

TEST(HostMemory, SizesAroundAHugePageAreUsableToTheLastByte) {
  for (const std::size_t bytes : {kHugePage - 1, kHugePage, kHugePage + 1, 3 * kHugePage + 4097}) {
    auto* data = static_cast<unsigned char*>(host_allocate(bytes));
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kHostAlignment, 0u);
    std::memset(data, 0x5A, bytes);
    EXPECT_EQ(data[bytes - 1], 0x5A);
    host_release(data, bytes);
  }
}

TEST(HostMemory, LargeBlocksStartOnAHugePageAndLeaveTheProcessWhenReleased) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "under AddressSanitizer malloc serves large blocks too";
#endif
  void* data = host_allocate(4 * kHugePage);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kHugePage, 0u);
  unsigned char pages[4 * kHugePage / 4096];
  EXPECT_EQ(mincore(data, 4 * kHugePage, pages), 0);
  host_release(data, 4 * kHugePage);
  EXPECT_EQ(mincore(data, 4 * kHugePage, pages), -1);
  EXPECT_EQ(errno, ENOMEM);  // nothing is mapped there any more
}

TEST(HostMemory, ZeroBytesIsABlockLikeAnyOther) {
  void* data = host_allocate(0);
  EXPECT_NE(data, nullptr);
  host_release(data, 0);
}

TEST(HostMemory, PinnedBlocksAreWholePages) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, kHugePage + 1}) {
    void* data = host_allocate_pages(bytes);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % page, 0u);
    std::memset(data, 1, bytes);
    host_release_pages(data, bytes);
  }
}

TEST(HostMemory, ImpossibleSizesGiveNull) {
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX - 4096, SIZE_MAX / 2}) {
    EXPECT_EQ(host_allocate(bytes), nullptr) << bytes;
    EXPECT_EQ(host_allocate_pages(bytes), nullptr) << bytes;
  }
}

}  // namespace
}  // namespace mxnet
