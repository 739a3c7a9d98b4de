// SPDX-License-Identifier: Apache-2.0
// The CUDA plug-in on a real GPU, through libmxnet.so: the contract of every DeviceApi, the
// elementwise rows, and recorded graphs. Each test is skipped, saying so, on a machine without one.
#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "device/graph_capture.h"
#include "device/plugin_abi.h"
#include "op/rows/unary_loops.h"
#include "op/run/gpu_table.h"
#include "tests/device/contract.h"

namespace mxnet::testing {
namespace {

DeviceApi* gpu() {
  try {
    DeviceApi& api = device_api(DeviceType::kGPU);
    return std::string(api.name()) == "cuda" ? &api : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

INSTANTIATE_TEST_SUITE_P(Apis, DeviceContract,
                         ::testing::Values(ApiUnderTest{"cuda", DeviceType::kGPU, gpu}),
                         [](const auto& info) { return info.param.name; });

class CudaUnary : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu() == nullptr) GTEST_SKIP() << "no GPU on this machine";
    // The one that the core has loaded, wherever that is.
    void* plugin = dlopen("libmxnet_cuda.so", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    ASSERT_NE(plugin, nullptr) << dlerror();
    table_ = reinterpret_cast<PluginEntry>(dlsym(plugin, kPluginEntry))()->kernels;
  }

  // Checks y = sigmoid(x) for n elements whose first lies `offset` elements into an aligned block.
  void check_sigmoid(int64_t n, int64_t offset) {
    DeviceApi& api = *gpu();
    Stream stream(api, 0);
    std::vector<float> x(n + offset), y(n + offset, -1);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 2001) / 100 - 10;
    Buffer from(api, Device::gpu(0), x.size() * 4), to(api, Device::gpu(0), y.size() * 4);
    from.upload(x.data(), stream);
    to.upload(y.data(), stream);
    const Shape shape{n};
    table_->unary(stream.native(), static_cast<int>(UnaryRow::sigmoid),
                  {static_cast<float*>(from.data()) + offset, &shape, DType::kFloat32},
                  {static_cast<float*>(to.data()) + offset, &shape, DType::kFloat32});
    to.download(y.data(), stream);
    stream.synchronize();
    for (int64_t i = 0; i < offset; ++i) ASSERT_EQ(y[i], -1) << "wrote before the start";
    for (std::size_t i = offset; i < y.size(); ++i) {
      const double expected = 1 / (1 + std::exp(-static_cast<double>(x[i])));
      ASSERT_NEAR(y[i], expected, 1e-6 * expected) << i;
    }
  }

  const GpuTable* table_ = nullptr;
};

TEST_F(CudaUnary, SigmoidOfEveryLengthAroundAVector) {
  for (int64_t n = 0; n <= 33; ++n) check_sigmoid(n, 0);
}

TEST_F(CudaUnary, SigmoidOfUnalignedMemory) {
  for (int64_t offset = 1; offset <= 4; ++offset) check_sigmoid(1001, offset);
}

TEST_F(CudaUnary, SigmoidOfMoreElementsThanThreads) { check_sigmoid((int64_t{1} << 22) + 5, 0); }

TEST_F(CudaUnary, NullStreamIsAClearError) {
  float x = 0;
  const Shape shape{1};
  const Tensor tensor{&x, &shape, DType::kFloat32};
  EXPECT_THROW(table_->unary(nullptr, static_cast<int>(UnaryRow::sigmoid), tensor, tensor), Error);
}

// A worker's first call may be a launch: nothing has made a context on its thread before.
TEST_F(CudaUnary, SigmoidOnAThreadThatHasUsedNoDevice) {
  std::thread([this] { check_sigmoid(1001, 0); }).join();
}

// What recordings are given while they last, of which only a device knows whether it ends them.
class CudaCapture : public CudaUnary {
 protected:
  static constexpr int64_t kSize = 1000;
  static constexpr std::size_t kBytes = kSize * sizeof(float);

  void SetUp() override {
    CudaUnary::SetUp();
    if (table_ == nullptr) return;
    capture_ = dynamic_cast<GraphCapture*>(gpu());
    ASSERT_NE(capture_, nullptr);
  }
  void sigmoid(Stream& stream, const Buffer& from, const Buffer& to) {
    const Shape shape{kSize};
    table_->unary(stream.native(), static_cast<int>(UnaryRow::sigmoid),
                  {from.data(), &shape, DType::kFloat32}, {to.data(), &shape, DType::kFloat32});
  }
  template <class Work>
  DeviceGraph record(Stream& stream, const Work& work) {
    capture_->begin_capture(0, stream.native());
    work();
    return {*capture_, 0, capture_->end_capture(0, stream.native())};
  }
  void expect_all(Stream& stream, Buffer& buffer, float expected) {
    std::vector<float> found(kSize);
    buffer.download(found.data(), stream);
    stream.synchronize();
    for (const float value : found) ASSERT_NEAR(value, expected, 1e-6);
  }

  GraphCapture* capture_ = nullptr;
};

TEST_F(CudaCapture, MemoryAndEventsOfOthersComeAndGoMeanwhile) {
  DeviceApi& api = *gpu();
  Stream stream(api, 0), other(api, 0);
  Buffer from(api, Device::gpu(0), kBytes), to(api, Device::gpu(0), kBytes);
  api.fill(0, from.data(), 0, kBytes, stream.native());
  sigmoid(stream, from, to);  // loads the kernel
  stream.synchronize();
  api.fill(0, to.data(), 0, kBytes, stream.native());
  DeviceGraph graph = record(stream, [&] {
    sigmoid(stream, from, to);
    { const Buffer more(api, Device::gpu(0), 64 << 20), less(api, Device::gpu(0), 1); }
    { const PinnedBuffer pinned(api, 1 << 20); }
    const Stream made(api, 0);
    Event event(api, 0);
    event.record(other);
    event.done();
    event.synchronize();
    other.synchronize();
  });
  expect_all(stream, to, 0.0f);  // nothing was done
  graph.launch(stream.native());
  expect_all(stream, to, 0.5f);
}

TEST_F(CudaCapture, ASecondStreamIsPartOfIt) {
  DeviceApi& api = *gpu();
  Stream stream(api, 0), beside(api, 0);
  Event begun(api, 0), ended(api, 0);
  Buffer from(api, Device::gpu(0), kBytes), first(api, Device::gpu(0), kBytes),
      second(api, Device::gpu(0), kBytes);
  api.fill(0, from.data(), 0, kBytes, stream.native());
  stream.synchronize();
  const auto fork = [&] {
    begun.record(stream);
    begun.block(beside);
    sigmoid(beside, from, first);
    sigmoid(stream, from, second);
    ended.record(beside);
    ended.block(stream);
  };
  fork();  // plain; the events are recorded anew then
  stream.synchronize();
  for (Buffer* to : {&first, &second}) api.fill(0, to->data(), 0, kBytes, stream.native());
  DeviceGraph graph = record(stream, fork);
  EXPECT_EQ(graph.nodes(), 2u);
  graph.launch(stream.native());
  for (Buffer* to : {&first, &second}) expect_all(stream, *to, 0.5f);
  fork();  // the streams are free again
  stream.synchronize();
}

TEST_F(CudaCapture, AGraphIsUpdatedToOtherArraysAndBack) {
  DeviceApi& api = *gpu();
  Stream stream(api, 0);
  Buffer from(api, Device::gpu(0), kBytes), here(api, Device::gpu(0), kBytes),
      there(api, Device::gpu(0), kBytes);
  api.fill(0, from.data(), 0, kBytes, stream.native());
  sigmoid(stream, from, here);
  DeviceGraph graph = record(stream, [&] { sigmoid(stream, from, here); });
  graph.launch(stream.native());
  stream.synchronize();
  DeviceGraph newer = record(stream, [&] { sigmoid(stream, from, there); });
  for (Buffer* to : {&there, &here}) {
    for (Buffer* each : {&here, &there}) api.fill(0, each->data(), 0, kBytes, stream.native());
    ASSERT_TRUE(graph.update(newer));
    graph.launch(stream.native());
    expect_all(stream, *to, 0.5f);
    expect_all(stream, to == &here ? there : here, 0.0f);
  }
}

// A kernel, a copy and a fill, whose arguments are those of a recording elsewhere.
TEST_F(CudaCapture, AGraphIsGivenPlacesThatItWasNotRecordedFor) {
  DeviceApi& api = *gpu();
  Stream stream(api, 0);
  const Device device = Device::gpu(0);
  struct Places {
    Places(DeviceApi& api, Device at) : from(api, at, kBytes), to(api, at, kBytes) {}
    Buffer from, to;
  };
  Buffer copied(api, device, kBytes);
  Places here(api, device), there(api, device), elsewhere(api, device);
  const auto work = [&](const Places& at) {
    api.fill(0, at.from.data(), 0, kBytes, stream.native());
    sigmoid(stream, at.from, at.to);
    api.copy(copied.data(), device, at.to.data(), device, kBytes, stream.native());
  };
  work(here);  // loads the kernel
  DeviceGraph graph = record(stream, [&] { work(here); });
  DeviceGraph other = record(stream, [&] { work(there); });
  graph.launch(stream.native());
  const auto moved = [&](const GraphArguments& given) {
    GraphArguments all = given;
    for (uint64_t& word : all.words) {
      if (word == reinterpret_cast<uintptr_t>(there.from.data()))
        word = reinterpret_cast<uintptr_t>(elsewhere.from.data());
      else if (word == reinterpret_cast<uintptr_t>(there.to.data()))
        word = reinterpret_cast<uintptr_t>(elsewhere.to.data());
    }
    return all;
  };
  GraphArguments of_other, expected;
  ASSERT_TRUE(other.arguments(&of_other));
  ASSERT_TRUE(record(stream, [&] { work(elsewhere); }).arguments(&expected));
  EXPECT_EQ(moved(of_other), expected) << "what differs is addresses";
  for (Buffer* each : {&copied, &here.to, &there.to, &elsewhere.to, &elsewhere.from})
    api.fill(0, each->data(), 0x3f, kBytes, stream.native());
  ASSERT_TRUE(other.give(expected));
  ASSERT_TRUE(graph.update(other));
  graph.launch(stream.native());
  expect_all(stream, elsewhere.to, 0.5f);
  expect_all(stream, copied, 0.5f);
  expect_all(stream, elsewhere.from, 0.0f);
  float untouched = 0;
  const uint32_t bits = 0x3f3f3f3f;
  std::memcpy(&untouched, &bits, sizeof bits);
  expect_all(stream, here.to, untouched);
  expect_all(stream, there.to, untouched);
}

// The thread goes on as before.
TEST_F(CudaCapture, WaitingForTheRecordingStreamIsAnErrorAndEndsIt) {
  DeviceApi& api = *gpu();
  Stream stream(api, 0);
  Buffer from(api, Device::gpu(0), kBytes), to(api, Device::gpu(0), kBytes);
  capture_->begin_capture(0, stream.native());
  sigmoid(stream, from, to);
  EXPECT_THROW(stream.synchronize(), Error);
  EXPECT_THROW(capture_->end_capture(0, stream.native()), Error);
  api.fill(0, from.data(), 0, kBytes, stream.native());
  sigmoid(stream, from, to);
  expect_all(stream, to, 0.5f);
}

}  // namespace
}  // namespace mxnet::testing
