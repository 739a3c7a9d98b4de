// SPDX-License-Identifier: Apache-2.0
// Kernels from source through the C ABI, on the emulated plug-in (module_host.cc).
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>

#include "c_api/ndarray_handle.h"
#include "device/plugin_loader.h"
#include "mxnet/c_api.h"
#include "mxnet/c_api_custom.h"
#include "tests/exec/arrays.h"
#include "tests/plugin/emulated/both_devices.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

constexpr int kFloat = 0, kInt32 = 4;  // of the ABI

class CudaModule : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(MXRtcCudaModuleCreate("void scale(...)", 0, nullptr, 0, nullptr, &module_), 0)
        << MXGetLastError();
    int arrays[] = {1, 1, 0, 0}, constants[] = {1, 0, 0, 0},
        types[] = {kFloat, kFloat, kFloat, kInt32};
    ASSERT_EQ(MXRtcCudaKernelCreate(module_, "scale", 4, arrays, constants, types, &kernel_), 0)
        << MXGetLastError();
  }
  void TearDown() override {
    EXPECT_EQ(MXRtcCudaKernelFree(kernel_), 0);
    if (module_ != nullptr) EXPECT_EQ(MXRtcCudaModuleFree(module_), 0);
  }
  int launch(const NDArray& x, const NDArray& y) {
    NDArrayHandle in = c_api::new_handle(x), out = c_api::new_handle(y);
    float factor = 2.5f;
    int n = 3;
    void* arguments[] = {in, out, &factor, &n};
    const int result = MXRtcCudaKernelCall(kernel_, 0, arguments, 1, 1, 1, 32, 1, 1, 0);
    factor = 0;  // numbers have been copied
    MXNDArrayFree(in);
    MXNDArrayFree(out);
    return result;
  }

  CudaModuleHandle module_ = nullptr;
  CudaKernelHandle kernel_ = nullptr;
};

TEST_F(CudaModule, ALaunchReadsAndWritesArraysInOrder) {
  NDArray x = array_of({1, 2, 3}, {}, kGpu), y = array_of({0, 0, 0}, {}, kGpu);
  ASSERT_EQ(launch(x, y), 0) << MXGetLastError();
  ASSERT_EQ(launch(y, x), 0) << MXGetLastError();
  EXPECT_EQ(values_of(y), (Values{2.5f, 5, 7.5f}));
  EXPECT_EQ(values_of(x), (Values{6.25f, 12.5f, 18.75f}));
}

// The host goes on while the device works: 200 000 launches a second leave no time to wait for one.
TEST_F(CudaModule, NobodyWaitsForALaunch) {
  const std::string path = path_beside_this_library("libmxnet_cuda.so");
  void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(plugin, nullptr) << dlerror();
  const auto waits = reinterpret_cast<int (*)()>(dlsym(plugin, "fake_cuda_waits"));
  ASSERT_NE(waits, nullptr) << dlerror();
  NDArray x = array_of({1, 2, 3}, {}, kGpu), y = array_of({0, 0, 0}, {}, kGpu);
  EXPECT_EQ(values_of(y), (Values{0, 0, 0}));
  constexpr int kLaunches = 20;
  const int before = waits();
  for (int i = 0; i < kLaunches; ++i) ASSERT_EQ(launch(x, y), 0) << MXGetLastError();
  EXPECT_EQ(values_of(y), (Values{2.5f, 5, 7.5f}));
  EXPECT_LT(waits() - before, kLaunches);
  dlclose(plugin);
}

TEST_F(CudaModule, ArraysElsewhereAreRefused) {
  NDArray x = array_of({1, 2, 3}), y = array_of({0, 0, 0}, {}, kGpu);
  ASSERT_EQ(launch(x, y), -1);
  EXPECT_NE(std::strstr(MXGetLastError(), "expected a dense float32 array on gpu(0)"), nullptr)
      << MXGetLastError();
}

TEST_F(CudaModule, KernelsOutliveTheirModule) {
  ASSERT_EQ(MXRtcCudaModuleFree(module_), 0);
  module_ = nullptr;
  NDArray x = array_of({1, 2, 3}, {}, kGpu), y = array_of({0, 0, 0}, {}, kGpu);
  ASSERT_EQ(launch(x, y), 0) << MXGetLastError();
  EXPECT_EQ(values_of(y), (Values{2.5f, 5, 7.5f}));
}

TEST_F(CudaModule, SourceThatDoesNotCompileIsAnError) {
  CudaModuleHandle out = nullptr;
  EXPECT_EQ(MXRtcCudaModuleCreate("nonsense", 0, nullptr, 0, nullptr, &out), -1);
  EXPECT_NE(std::strstr(MXGetLastError(), "does not compile"), nullptr) << MXGetLastError();
}

}  // namespace
}  // namespace mxnet
