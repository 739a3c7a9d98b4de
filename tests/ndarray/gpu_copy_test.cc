// SPDX-License-Identifier: Apache-2.0
// Copies with a GPU at one end or both: the host goes on while they wait on their streams.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "arrays.h"
#include "device/sim/sim_control.h"
#include "engine/fences.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

constexpr std::chrono::seconds kLongEnough{20};

// Work on gpu(0) that lasts until open(): whatever comes after it on a stream waits with it.
class Gate {
 public:
  explicit Gate(const NDArray& array) {
    const std::array<Var*, 1> writes{array.var()};
    Engine::get().push(
        [opened = opened_](const RunContext& context) {
          context.stream->api().host_call(context.device.id, context.stream->native(),
                                          [opened] { opened.wait(); });
          engine::complete_by_event();
        },
        {.device = array.device(), .reads = {}, .writes = writes, .name = "gate"});
  }
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    if (!std::exchange(is_open_, true)) promise_.set_value();
  }

 private:
  bool is_open_ = false;
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
};

// Whether the host comes past everything that was pushed with `array`, while its work waits.
bool is_launched(const NDArray& array, Device device) {
  const auto launched = std::make_shared<std::promise<void>>();
  std::future<void> done = launched->get_future();
  const std::array<Var*, 1> reads{array.var()};
  Engine::get().push(
      [launched](const RunContext&) {
        launched->set_value();
        engine::complete_by_event();
      },
      {.device = device, .reads = reads, .writes = {}, .name = "probe"});
  return done.wait_for(kLongEnough) == std::future_status::ready;
}

// Fails the nth copy on `device` from now, which is the caller's: none from before is on its way.
void fail_copy(int device, int64_t nth) {
  Engine::get().wait_for_all();
  sim_control(device_api(DeviceType::kGPU))->fail_copy(device, nth, "the bus is on fire");
}

// Waits for the streams of gpu(0)'s workers until one has thrown what failed on it.
bool some_stream_throws() {
  for (int round = 0; round < 100; ++round) {
    std::vector<NDArray> arrays;
    for (int i = 0; i < 8; ++i) {  // enough to keep each worker busy
      arrays.emplace_back(Shape{1}, DType::kFloat32, Device::gpu(0));
      const std::array<Var*, 1> writes{arrays.back().var()};
      Engine::get().push(
          [](const RunContext& context) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            context.stream->synchronize();
          },
          {.device = Device::gpu(0), .reads = {}, .writes = writes, .name = "synchronize"});
    }
    bool thrown = false;
    for (const NDArray& array : arrays) {
      try {
        array.wait_to_read();
      } catch (const Error&) {
        thrown = true;
      }
    }
    if (thrown) return true;
  }
  return false;
}

TEST(GpuCopy, WithinADeviceAndBetweenTwoTheHostDoesNotWait) {
  const NDArray a = counting(Shape{1000}, Device::gpu(0));
  Gate gate(a);
  const NDArray b = a.copy(Device::gpu(0)), c = b.copy(Device::gpu(1));
  EXPECT_TRUE(is_launched(b, Device::gpu(0)));
  EXPECT_TRUE(is_launched(c, Device::gpu(1)));
  gate.open();
  EXPECT_EQ(floats(c), floats(counting(Shape{1000})));
}

TEST(GpuCopy, ToAndFromPinnedMemoryTheHostDoesNotWait) {
  const NDArray a = counting(Shape{1000}, Device::gpu(0));
  Gate gate(a);
  const NDArray b = a.copy(Device::cpu_pinned()), c = b.copy(Device::gpu(1));
  EXPECT_TRUE(is_launched(c, Device::gpu(1)));
  gate.open();
  EXPECT_EQ(floats(b), floats(counting(Shape{1000})));
  EXPECT_EQ(floats(c), floats(b));
}

TEST(GpuCopy, AWriterOnTheHostComesAfterTheReadOfItsArray) {
  NDArray a = counting(Shape{4}, Device::cpu_pinned());
  const NDArray b = counting(Shape{4}, Device::gpu(0));
  Gate gate(b);
  a.copy_to(b);  // waits on its stream
  const std::vector<float> other(4, -1.0f);
  std::thread opener([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  a.sync_copy_from(other.data(), 4);
  opener.join();
  EXPECT_EQ(floats(b), (std::vector<float>{0, 1, 2, 3}));
}

TEST(GpuCopy, ArraysThatEndBeforeTheirCopyAreKept) {
  NDArray a = counting(Shape{1000}, Device::gpu(0));
  Gate gate(a);
  NDArray c = a.copy(Device::gpu(1)).copy(Device::cpu_pinned());
  a = NDArray();
  const NDArray other(Shape{1000}, DType::kFloat32, Device::gpu(0));  // may get the same memory
  counting(Shape{1000}, Device::gpu(1)).copy_to(other);
  gate.open();
  EXPECT_EQ(floats(c), floats(counting(Shape{1000})));
  EXPECT_EQ(floats(other), floats(c));
}

TEST(GpuCopy, FromPageableMemoryTheHostDoesNotWait) {
  const Shape shape{1'500'000};
  const NDArray a = counting(shape), b(shape, DType::kFloat32, Device::gpu(0));
  b.wait_to_write();
  Gate gate(b);
  a.copy_to(b);
  EXPECT_TRUE(is_launched(b, Device::gpu(0)));
  gate.open();
  EXPECT_EQ(floats(b), floats(a));
}

class StagedCopy : public ::testing::TestWithParam<int64_t> {};

TEST_P(StagedCopy, EveryByteArrivesThereAndBack) {
  std::vector<uint8_t> sent(static_cast<std::size_t>(GetParam()));
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<uint8_t>(i * 31 + i / 4093);
  const Shape shape{GetParam()};
  const NDArray on_gpu = make(shape, sent, Device::gpu(1));
  EXPECT_TRUE(values<uint8_t>(on_gpu) == sent);
  EXPECT_TRUE(values<uint8_t>(on_gpu.copy(Device::cpu())) == sent);
  EXPECT_TRUE(values<uint8_t>(make(shape, sent).copy(Device::gpu(0))) == sent);
}
INSTANTIATE_TEST_SUITE_P(Bytes, StagedCopy,
                         ::testing::Values(1, 65'536, 65'537, 4 << 20, (8 << 20) - 1, 8 << 20,
                                           (8 << 20) + 1, (16 << 20) + 7));

TEST(GpuCopy, APieceThatFailsFailsTheCopy) {
  const NDArray a = counting(Shape{3'000'000}, Device::gpu(1));  // three pieces
  for (const int64_t nth : {1, 2, 3}) {
    fail_copy(1, nth);
    EXPECT_NE(error_of([&] { floats(a); }).find("the bus is on fire"), std::string::npos) << nth;
  }
  EXPECT_EQ(floats(a), floats(counting(Shape{3'000'000})));
}

TEST(GpuCopy, AFailedCopyIsToldByTheWaitForItsArray) {
  const NDArray a = counting(Shape{10}, Device::gpu(0));
  NDArray b(Shape{10}, DType::kFloat32, Device::gpu(0));
  b.wait_to_write();
  fail_copy(0, 1);
  a.copy_to(b);
  EXPECT_NE(error_of([&] { b.wait_to_read(); }).find("the bus is on fire"), std::string::npos);
  EXPECT_TRUE(some_stream_throws()) << "the stream keeps it until it is waited for itself";
  EXPECT_NO_THROW(b.wait_to_read());
}

}  // namespace
}  // namespace mxnet
