// SPDX-License-Identifier: Apache-2.0
// Teams of GPUs on a runtime and an NCCL that are faked: what is called, in which order, and what
// becomes of errors.
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "device/stream.h"
#include "fake_cudart.h"
#include "fake_nccl.h"
#include "plugin/cuda/cuda_device_api.h"

namespace mxnet::testing {
namespace {

using Calls = std::vector<std::string>;

class CudaCollectives : public ::testing::Test {
 protected:
  CudaCollectives() : first_(api_, 0), second_(api_, 1) {
    fake_nccl::take_calls();
    const int devices[] = {0, 1};
    team_ = api_.create_team(devices);
  }
  ~CudaCollectives() override {
    fake_nccl::fail_in("");
    fake_nccl::change_device_with(nullptr, nullptr);
    if (team_ != nullptr) api_.destroy_team(team_);
  }

  void run(Collective kind, DType dtype = DType::kFloat32) {
    const void* const from[] = {this, this};
    void* const to[] = {this, this};
    NativeStream* const streams[] = {first_.native(), second_.native()};
    api_.run(team_, {kind, 1, dtype, 7, from, to}, streams);
  }
  static cuda::CudaDeviceApi& faked() {
    fake_cuda::reset();
    static cuda::CudaDeviceApi* api = cuda::CudaDeviceApi::create().release();
    return *api;
  }

  cuda::CudaDeviceApi& api_ = faked();
  Stream first_, second_;
  NativeTeam* team_ = nullptr;
};

TEST_F(CudaCollectives, ATeamHasACommunicatorForEachGpu) {
  EXPECT_EQ(fake_nccl::take_calls(), (Calls{"init 2"}));
  api_.destroy_team(team_);
  team_ = nullptr;
  EXPECT_EQ(fake_nccl::take_calls(), (Calls{"destroy", "destroy"}));
}

TEST_F(CudaCollectives, CallsReachAllGpusInOneGroup) {
  fake_nccl::take_calls();
  run(Collective::kSumToAll);
  EXPECT_EQ(fake_nccl::take_calls(),
            (Calls{"start", "all reduce 7 of type 7 on 0", "all reduce 7 of type 7 on 1", "end"}));
  run(Collective::kSumToRoot, DType::kFloat16);
  EXPECT_EQ(fake_nccl::take_calls(), (Calls{"start", "reduce to 1 7 of type 6 on 0",
                                            "reduce to 1 7 of type 6 on 1", "end"}));
  run(Collective::kCopyFromRoot, DType::kInt64);
  EXPECT_EQ(fake_nccl::take_calls(), (Calls{"start", "broadcast from 1 7 of type 4 on 0",
                                            "broadcast from 1 7 of type 4 on 1", "end"}));
}

TEST_F(CudaCollectives, AnErrorLeavesTheGroup) {
  fake_nccl::take_calls();
  fake_nccl::fail_in("ncclAllReduce");
  try {
    run(Collective::kSumToAll);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "ncclAllReduce: invalid usage: as the test asked");
  }
  EXPECT_EQ(fake_nccl::take_calls(), (Calls{"start", "all reduce 7 of type 7 on 0", "end"}));
}

TEST_F(CudaCollectives, TypesThatNcclLacksAreAnError) {
  EXPECT_THROW(run(Collective::kSumToAll, DType::kBool), Error);
}

TEST_F(CudaCollectives, TheCurrentDeviceStays) {
  cudaSetDevice(0);
  fake_nccl::change_device_with(cudaSetDevice, cudaGetDevice);
  const int devices[] = {0, 1};
  const auto current = [] {
    int device = -1;
    cudaGetDevice(&device);
    return device;
  };
  NativeTeam* const team = api_.create_team(devices);
  EXPECT_EQ(current(), 0);
  run(Collective::kSumToAll);
  EXPECT_EQ(current(), 0);
  api_.destroy_team(team);
  EXPECT_EQ(current(), 0);
}

// A context takes half a gigabyte of a device: the one that is current on a thread which has chosen
// none is not to get one by being put back.
TEST_F(CudaCollectives, ATeamMakesContextsOnNoOtherDevice) {
  fake_nccl::change_device_with(cudaSetDevice, cudaGetDevice);
  std::thread([&] {
    Stream stream(api_, 1);
    fake_cuda::forget_contexts();
    const int devices[] = {1};
    NativeTeam* const team = api_.create_team(devices);
    const void* const from[] = {this};
    void* const to[] = {this};
    NativeStream* const streams[] = {stream.native()};
    api_.run(team, {Collective::kSumToAll, 1, DType::kFloat32, 0, from, to}, streams);
    api_.destroy_team(team);
  }).join();
  EXPECT_EQ(fake_cuda::contexts(), std::set<int>{1});
}

}  // namespace
}  // namespace mxnet::testing
