// SPDX-License-Identifier: Apache-2.0
// Source of programs: what is compiled when, and what a launch hands to the runtime, which is
// faked.
#include "plugin/cuda/rtc/module.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "device/stream.h"
#include "fake_cudart.h"
#include "plugin/cuda/cuda_device_api.h"

namespace mxnet::testing {
namespace {

using namespace mxnet::cuda;

class RtcModule : public ::testing::Test {
 protected:
  RtcModule() { fake_cuda::last_launch() = {}; }
  ~RtcModule() override { fake_cuda::last_launch() = {}; }

  static DeviceApi& api() {
    fake_cuda::reset();
    static DeviceApi* api = CudaDeviceApi::create().release();
    return *api;
  }
  CompiledCode compile(const CompileRequest& request) {
    requests_.push_back(request);
    if (request.source == "wrong") throw Error(ErrorCode::kValue, "rtc", "line 1: wrong");
    return {"code", {{"twice<float>", "_Z5twiceIfE"}}};
  }
  std::unique_ptr<Module> module_of(std::string text) {
    return std::make_unique<Module>(
        GpuSource{std::move(text), {"-lineinfo"}, {"twice<float>"}},
        [this](const CompileRequest& request) { return compile(request); }, std::vector{80, 90});
  }

  Stream stream_{api(), 0};
  std::vector<CompileRequest> requests_;
};

TEST_F(RtcModule, IsCompiledOnceForTheDeviceThatIsThere) {
  const auto module = module_of("extern \"C\" __global__ void f() {}");
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_EQ(requests_[0].options, std::vector<std::string>{"-lineinfo"});
  EXPECT_EQ(requests_[0].exports, std::vector<std::string>{"twice<float>"});
  EXPECT_EQ(requests_[0].architecture, 90);
  module->launch(stream_.native(), "f", {{3, 1, 1}, {64, 1, 1}, 0}, nullptr);
  module->launch(stream_.native(), "f", {{3, 1, 1}, {64, 1, 1}, 0}, nullptr);
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(RtcModule, ALaunchTakesGridAndArguments) {
  const auto module = module_of("...");
  int seen = 0;
  fake_cuda::last_launch().read = [&](void** arguments) {
    seen = *static_cast<int*>(arguments[0]);
  };
  int number = 7;
  void* arguments[] = {&number};
  module->launch(stream_.native(), "f", {{5, 1, 1}, {96, 1, 1}, 0}, arguments);
  EXPECT_EQ(fake_cuda::last_launch().name, "f");
  EXPECT_EQ(fake_cuda::last_launch().blocks, 5u);
  EXPECT_EQ(fake_cuda::last_launch().threads, 96u);
  EXPECT_EQ(seen, 7);
  module->launch(stream_.native(), "twice<float>", {{1, 1, 1}, {1, 1, 1}, 0}, arguments);
  EXPECT_EQ(fake_cuda::last_launch().name, "_Z5twiceIfE") << "exported names are mangled ones";
}

TEST_F(RtcModule, MuchSharedMemoryIsAskedForAndStays) {
  const auto module = module_of("...");
  const auto launch = [&](uint32_t bytes) {
    module->launch(stream_.native(), "f", {{1, 1, 1}, {32, 1, 1}, bytes}, nullptr);
    EXPECT_EQ(fake_cuda::last_launch().shared_bytes, bytes);
  };
  constexpr uint32_t kKiB = 1024;
  const std::size_t free_limit = fake_cuda::last_launch().shared_limit;
  launch(48 * kKiB);
  EXPECT_EQ(fake_cuda::last_launch().shared_limit, free_limit);
  launch(100 * kKiB);
  EXPECT_EQ(fake_cuda::last_launch().shared_limit, 100 * kKiB);
  launch(64 * kKiB);  // another thread may be about to launch with more
  EXPECT_EQ(fake_cuda::last_launch().shared_limit, 100 * kKiB);
}

TEST_F(RtcModule, WrongSourceIsRefusedWhereItIsGiven) { EXPECT_THROW(module_of("wrong"), Error); }

}  // namespace
}  // namespace mxnet::testing
