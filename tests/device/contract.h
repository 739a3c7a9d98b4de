// SPDX-License-Identifier: Apache-2.0
// What every DeviceApi promises, tested the same way on each. Include it and instantiate
// DeviceContract with the apis at hand: host and simulator in contract_test.cc, the CUDA plug-in in
// tests/plugin.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/stream.h"

namespace mxnet::testing {
// How a test gets at one api. `memory` is the kind of its device memory; `get` null means skip,
// with `why_not`.
struct ApiUnderTest {
  std::string name;
  DeviceType memory;
  std::function<DeviceApi*()> get;
};

inline void PrintTo(const ApiUnderTest& api, std::ostream* out) { *out << api.name; }

class DeviceContract : public ::testing::TestWithParam<ApiUnderTest> {
 protected:
  void SetUp() override {
    api_ = GetParam().get();
    if (api_ == nullptr) GTEST_SKIP() << "no such device on this machine";
  }
  DeviceApi& api() { return *api_; }
  Device device(int ordinal = 0) const { return {GetParam().memory, ordinal}; }

 private:
  DeviceApi* api_ = nullptr;
};

// Device memory of one test, given back at its end.
class Buffer {
 public:
  Buffer(DeviceApi& api, Device device, std::size_t bytes)
      : api_(api), device_(device), bytes_(bytes), data_(api.allocate(device.id, bytes)) {}
  ~Buffer() { api_.release(device_.id, data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  void upload(const void* host, Stream& stream) {
    api_.copy(data_, device_, host, Device::cpu(), bytes_, stream.native());
  }
  void download(void* host, Stream& stream) {
    api_.copy(host, Device::cpu(), data_, device_, bytes_, stream.native());
  }

 private:
  DeviceApi& api_;
  Device device_;
  std::size_t bytes_;
  void* data_;
};

class PinnedBuffer {
 public:
  PinnedBuffer(DeviceApi& api, std::size_t bytes)
      : api_(api), bytes_(bytes), data_(api.allocate_pinned(bytes)) {}
  ~PinnedBuffer() { api_.release_pinned(data_, bytes_); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  DeviceApi& api_;
  std::size_t bytes_;
  void* data_;
};

inline std::vector<uint8_t> counting_bytes(std::size_t n) {
  std::vector<uint8_t> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return bytes;
}

TEST_P(DeviceContract, HasAtLeastOneDeviceWithNameAndMemory) {
  EXPECT_GE(api().device_count(), 1);
  const DeviceProperties properties = api().properties(0);
  EXPECT_FALSE(properties.name.empty());
  EXPECT_GT(properties.total_memory, 0u);
  EXPECT_GT(properties.multiprocessors, 0);
  const MemoryInfo info = api().memory_info(0);
  EXPECT_GT(info.total, 0u);
  EXPECT_LE(info.free, info.total);
}

TEST_P(DeviceContract, MemoryIsAlignedWhateverItsSize) {
  const std::uintptr_t alignment = device().is_gpu() ? 256 : 64;
  for (const std::size_t bytes : {1, 63, 64, 4095, 4097, 65536, 3 << 20}) {
    Buffer buffer(api(), device(), bytes);
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment, 0u) << bytes;
  }
}

TEST_P(DeviceContract, ImpossibleAllocationGivesNull) {
  EXPECT_EQ(api().allocate(0, std::size_t{1} << 60), nullptr);
  EXPECT_EQ(api().allocate(0, SIZE_MAX), nullptr);
  EXPECT_EQ(api().allocate_pinned(SIZE_MAX), nullptr);
  Buffer still_works(api(), device(), 1024);
  EXPECT_NE(still_works.data(), nullptr);
}

TEST_P(DeviceContract, ReleasingNullDoesNothing) {
  api().release(0, nullptr, 16);
  api().release_pinned(nullptr, 16);
  EXPECT_GE(api().device_count(), 1);
}

TEST_P(DeviceContract, BytesSurviveTheRoundTrip) {
  Stream stream(api(), 0);
  for (const std::size_t bytes : {1, 255, 4096, 1 << 20, (4 << 20) + 3}) {
    Buffer buffer(api(), device(), bytes);
    const std::vector<uint8_t> sent = counting_bytes(bytes);
    std::vector<uint8_t> received(bytes);
    buffer.upload(sent.data(), stream);
    buffer.download(received.data(), stream);
    stream.synchronize();
    EXPECT_EQ(sent, received) << bytes;
  }
}

TEST_P(DeviceContract, BytesSurviveTheRoundTripThroughPinnedMemory) {
  constexpr std::size_t kBytes = 100'000;
  Stream stream(api(), 0);
  Buffer buffer(api(), device(), kBytes);
  PinnedBuffer out(api(), kBytes), in(api(), kBytes);
  const std::vector<uint8_t> sent = counting_bytes(kBytes);
  std::memcpy(out.as<uint8_t>(), sent.data(), kBytes);
  api().copy(buffer.data(), device(), out.as<void>(), Device::cpu_pinned(), kBytes,
             stream.native());
  api().copy(in.as<void>(), Device::cpu_pinned(), buffer.data(), device(), kBytes, stream.native());
  stream.synchronize();
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), in.as<uint8_t>()));
}

TEST_P(DeviceContract, CopiesWithinADevice) {
  constexpr std::size_t kBytes = 5000;
  Stream stream(api(), 0);
  Buffer a(api(), device(), kBytes), b(api(), device(), kBytes);
  const std::vector<uint8_t> sent = counting_bytes(kBytes);
  std::vector<uint8_t> received(kBytes);
  a.upload(sent.data(), stream);
  api().copy(b.data(), device(), a.data(), device(), kBytes, stream.native());
  b.download(received.data(), stream);
  stream.synchronize();
  EXPECT_EQ(sent, received);
}

TEST_P(DeviceContract, FillSetsEveryByteAndNoOther) {
  Stream stream(api(), 0);
  Buffer buffer(api(), device(), 300);
  std::vector<uint8_t> bytes(300);
  api().fill(0, buffer.data(), 1, 300, stream.native());
  api().fill(0, static_cast<char*>(buffer.data()) + 100, 0xAB, 50, stream.native());
  buffer.download(bytes.data(), stream);
  stream.synchronize();
  for (int i = 0; i < 300; ++i) EXPECT_EQ(bytes[i], i >= 100 && i < 150 ? 0xAB : 1) << i;
}

TEST_P(DeviceContract, NothingIsCopiedForZeroBytes) {
  Stream stream(api(), 0);
  api().copy(nullptr, device(), nullptr, Device::cpu(), 0, stream.native());
  api().fill(0, nullptr, 0, 0, stream.native());
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_P(DeviceContract, HostCallsRunInOrder) {
  constexpr int kCalls = 500;
  Stream stream(api(), 0);
  std::vector<int> order;  // only touched by the stream until synchronize
  for (int i = 0; i < kCalls; ++i) {
    api().host_call(0, stream.native(), [&order, i] { order.push_back(i); });
  }
  stream.synchronize();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(kCalls));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(DeviceContract, HostCallSeesTheCopyBeforeIt) {
  Stream stream(api(), 0);
  Buffer buffer(api(), device(), 4);
  PinnedBuffer in(api(), 4), out(api(), 4);
  *out.as<int32_t>() = 42;
  int32_t seen = 0;
  api().copy(buffer.data(), device(), out.as<void>(), Device::cpu_pinned(), 4, stream.native());
  api().copy(in.as<void>(), Device::cpu_pinned(), buffer.data(), device(), 4, stream.native());
  api().host_call(0, stream.native(), [&] { seen = *in.as<int32_t>(); });
  stream.synchronize();
  EXPECT_EQ(seen, 42);
}

TEST_P(DeviceContract, ErrorOfAHostCallSurfacesOnceAtSynchronize) {
  Stream stream(api(), 0);
  int later = 0;
  EXPECT_NO_THROW(api().host_call(
      0, stream.native(), [] { throw Error(ErrorCode::kIndex, "kernel", "out of range"); }));
  api().host_call(0, stream.native(), [&later] { later = 1; });
  try {
    stream.synchronize();
    FAIL() << "expected the kernel's error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kIndex);
    EXPECT_EQ(e.tag(), "kernel");
  }
  EXPECT_NO_THROW(stream.synchronize());
  EXPECT_EQ(later, 1);
}

TEST_P(DeviceContract, ErrorOfOneStreamLeavesOthersAlone) {
  Stream bad(api(), 0), good(api(), 0);
  api().host_call(0, bad.native(), [] { throw Error(ErrorCode::kGeneric, "no"); });
  EXPECT_NO_THROW(good.synchronize());
  EXPECT_THROW(bad.synchronize(), Error);
}

TEST_P(DeviceContract, EventNeverRecordedIsDone) {
  Event event(api(), 0);
  Stream stream(api(), 0);
  EXPECT_TRUE(event.done());
  event.synchronize();
  event.block(stream);
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_P(DeviceContract, EventIsDoneAfterTheWorkBeforeIt) {
  Stream stream(api(), 0);
  Event event(api(), 0);
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i) api().host_call(0, stream.native(), [&ran] { ++ran; });
  event.record(stream);
  event.synchronize();
  EXPECT_EQ(ran, 10);
  EXPECT_TRUE(event.done());
}

TEST_P(DeviceContract, EventMayBeRecordedAgain) {
  Stream stream(api(), 0);
  Event event(api(), 0);
  int count = 0;
  for (int i = 1; i <= 3; ++i) {
    api().host_call(0, stream.native(), [&count] { ++count; });
    event.record(stream);
    event.synchronize();
    EXPECT_EQ(count, i);
  }
}

TEST_P(DeviceContract, BlockedStreamRunsAfterTheEvent) {
  Stream first(api(), 0), second(api(), 0);
  Event event(api(), 0);
  int value = 0;  // a data race unless the event orders the two
  for (int i = 0; i < 100; ++i) {
    api().host_call(0, first.native(), [&value] { value = value * 2 + 1; });
    event.record(first);
    event.block(second);
    api().host_call(0, second.native(), [&value] { value %= 1000; });
    event.record(second);
    event.block(first);
  }
  first.synchronize();
  second.synchronize();
  int expected = 0;
  for (int i = 0; i < 100; ++i) expected = (expected * 2 + 1) % 1000;
  EXPECT_EQ(value, expected);
}

TEST_P(DeviceContract, ADeviceReachesItself) {
  EXPECT_TRUE(api().can_access_peer(0, 0));
  EXPECT_NO_THROW(api().enable_peer_access(0, 0));
  EXPECT_NO_THROW(api().enable_peer_access(0, 0));
}

TEST_P(DeviceContract, OrdinalOutOfRangeIsAClearError) {
  if (!device().is_gpu()) {
    EXPECT_NO_THROW(api().properties(7));  // scripts say cpu(7)
    return;
  }
  const int beyond = api().device_count();
  for (const int ordinal : {-1, beyond, beyond + 100}) {
    try {
      api().properties(ordinal);
      FAIL() << ordinal;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kValue);
      EXPECT_NE(e.message().find("gpu(" + std::to_string(ordinal) + ")"), std::string::npos);
    }
    EXPECT_THROW(api().allocate(ordinal, 16), Error);
    EXPECT_THROW(api().create_stream(ordinal, StreamPriority::kNormal), Error);
    EXPECT_THROW(api().create_event(ordinal), Error);
    EXPECT_THROW(api().can_access_peer(0, ordinal), Error);
  }
}

}  // namespace mxnet::testing
