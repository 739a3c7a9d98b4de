// SPDX-License-Identifier: Apache-2.0
// From a call of a chain to the launch of its kernel, on the faked runtime.
#include "plugin/cuda/rtc/chain_launch.h"
#include "base/config.h"

#include <gtest/gtest.h>

#include <array>
#include <latch>

#include "base/error.h"
#include "device/rehearsal.h"
#include "device/stream.h"
#include "fake_cudart.h"
#include "no_resources.h"
#include "plugin/cuda/cuda_device_api.h"
#include "random_chain.h"

namespace mxnet::testing {
namespace {

using namespace mxnet::cuda;

class ChainLaunch : public ::testing::Test {
 protected:
  // Launches `exp` on 101 floats whose input lies `offset` floats from an aligned place.
  bool launch(int64_t offset) {
    const Tensor tensors[] = {{in_.data() + offset, &shape_, DType::kFloat32},
                              {out_.data(), &shape_, DType::kFloat32}};
    NoResources resources;
    const std::span<const Tensor> all(tensors);
    const KernelContext context(all.first(1), all.last(1), Device::gpu(0), &stream_, false,
                                resources);
    fake_cuda::last_launch() = {};
    fake_cuda::last_launch().read = [this](void** arguments) {
      arguments_ = *static_cast<const ChainArguments*>(arguments[0]);
    };
    return launch_chain(kernels_, test_.chain, context, 90);
  }

  // Whether a recording would do what a launch does.
  bool settles() {
    const Rehearsal rehearsal;
    launch(0);
    return rehearsal.settled();
  }

  static DeviceApi& api() {
    fake_cuda::reset();
    static DeviceApi* api = CudaDeviceApi::create().release();
    return *api;
  }

  const TestChain test_ = *single_chain(Registry::get().at("exp"), DType::kFloat32, 101);
  const Shape shape_{101};
  alignas(64) std::array<float, 128> in_{}, out_{};
  Stream stream_{api(), 0};
  CudaConfig config_;
  bool fails_ = false;
  std::latch* held_ = nullptr;
  ChainKernels kernels_{config_, [this](const CompileRequest&) {
                          if (held_ != nullptr) held_->wait();
                          if (fails_) throw Error(ErrorCode::kGeneric, "rtc", "no");
                          return CompiledCode{"code", {}};
                        }};
  ChainArguments arguments_{};
};

TEST_F(ChainLaunch, WaitsForNothingAndThenGivesTheArrays) {
  launch(0);  // whether or not it is compiled by now
  kernels_.drain();
  fake_cuda::graph_counts() = {};
  ASSERT_TRUE(launch(0));
  EXPECT_EQ(fake_cuda::last_launch().count, 1);
  EXPECT_EQ(fake_cuda::last_launch().threads, 256u);
  EXPECT_EQ(arguments_.size, 101);
  EXPECT_EQ(arguments_.groups, 25);
  EXPECT_EQ(arguments_.arrays[0], in_.data());
  EXPECT_EQ(arguments_.arrays[1], out_.data());
  ASSERT_TRUE(launch(0));
  EXPECT_LE(fake_cuda::graph_counts().libraries, 1) << "code is loaded once";
}

// A recording would have the operators one by one for ever.
TEST_F(ChainLaunch, IsRehearsedAgainAsLongAsItIsCompiled) {
  std::latch compiled{1};
  held_ = &compiled;
  EXPECT_FALSE(settles());
  EXPECT_FALSE(settles());
  compiled.count_down();
  kernels_.drain();
  EXPECT_TRUE(settles());
  EXPECT_EQ(fake_cuda::last_launch().count, 1);
}

TEST_F(ChainLaunch, WhatCannotBeCompiledIsRehearsedNoMore) {
  fails_ = true;
  launch(0);
  kernels_.drain();
  EXPECT_TRUE(settles());
}

TEST_F(ChainLaunch, UnalignedArraysGoOneByOne) {
  launch(0);
  kernels_.drain();
  ASSERT_TRUE(launch(1));
  EXPECT_EQ(arguments_.groups, 0);
  EXPECT_EQ(arguments_.arrays[0], in_.data() + 1);
}

// An older driver than the compiler's toolkit may refuse what it has made.
TEST_F(ChainLaunch, WhatCannotBeLoadedIsLeftToTheCaller) {
  launch(0);
  kernels_.drain();
  fake_cuda::fail("cudaLibraryLoadData", cudaErrorUnsupportedPtxVersion);
  EXPECT_FALSE(launch(0));
  EXPECT_TRUE(settles()) << "nothing better is to be expected";
  EXPECT_FALSE(launch(0)) << "it is asked for once";
  EXPECT_EQ(fake_cuda::last_launch().count, 0);
}

TEST_F(ChainLaunch, WhatCannotBeCompiledIsLeftToTheCaller) {
  fails_ = true;
  EXPECT_FALSE(launch(0));
  kernels_.drain();
  EXPECT_FALSE(launch(0));
  EXPECT_EQ(fake_cuda::last_launch().count, 0);
}

}  // namespace
}  // namespace mxnet::testing
