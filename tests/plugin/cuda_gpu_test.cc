// SPDX-License-Identifier: Apache-2.0
// The CUDA plug-in on a real GPU, through libmxnet.so: the contract of every DeviceApi, and the
// elementwise rows. Each test is skipped, saying so, on a machine without one.
#include <dlfcn.h>

#include <cmath>

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

}  // namespace
}  // namespace mxnet::testing
