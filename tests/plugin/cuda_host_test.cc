// SPDX-License-Identifier: Apache-2.0
// The CUDA plug-in's host code on a runtime that is faked: the contract of every DeviceApi, and
// what becomes of CUDA's errors, handles and current device.
#include "base/error.h"
#include "device/device_links.h"
#include "fake_cudart.h"
#include "guarded_memory.h"
#include "plugin/cuda/cuda_device_api.h"
#include "plugin/cuda/device_guard.h"
#include "plugin/cuda/launch.h"
#include "tests/device/contract.h"

namespace mxnet::testing {
namespace {

using cuda::CudaDeviceApi;

DeviceApi* faked() {
  fake_cuda::reset();
  static CudaDeviceApi* api = CudaDeviceApi::create().release();
  return api;
}

INSTANTIATE_TEST_SUITE_P(Apis, DeviceContract,
                         ::testing::Values(ApiUnderTest{"cuda_on_fake", DeviceType::kGPU, faked}),
                         [](const auto& info) { return info.param.name; });

class CudaHost : public ::testing::Test {
 protected:
  DeviceApi& api_ = *faked();

  // The message of the Error that `call` throws; empty if it does not.
  template <class F>
  static std::string error_of(F&& call) {
    try {
      call();
    } catch (const Error& e) {
      EXPECT_EQ(e.tag(), "cuda");
      return e.message();
    }
    return "";
  }
};

TEST_F(CudaHost, EveryCallPutsTheCurrentDeviceBack) {
  cudaSetDevice(0);
  {
    Stream stream(api_, 1);
    Event event(api_, 1);
    Buffer buffer(api_, Device::gpu(1), 64);
    char host[64] = {};
    buffer.upload(host, stream);
    api_.fill(1, buffer.data(), 1, 64, stream.native());
    api_.host_call(1, stream.native(), [] {});
    event.record(stream);
    event.block(stream);
    EXPECT_TRUE(event.done());
    event.synchronize();
    stream.synchronize();
    api_.memory_info(1);
    api_.enable_peer_access(1, 0);
  }
  int current = -1;
  cudaGetDevice(&current);
  EXPECT_EQ(current, 0);
}

// A context takes half a gigabyte of a device.
TEST_F(CudaHost, AProcessThatUsesOneDeviceMakesContextsOnNoOther) {
  std::thread([&] {  // which has used none so far
    fake_cuda::forget_contexts();
    for (int device = 0; device < fake_cuda::kDevices; ++device) {
      api_.properties(device);
      api_.can_access_peer(device, 1 - device);
    }
    link_weights(api_);
    EXPECT_EQ(fake_cuda::contexts(), std::set<int>{});
    {
      Stream stream(api_, 1);
      Event event(api_, 1);
      Buffer buffer(api_, Device::gpu(1), 64);
      api_.fill(1, buffer.data(), 1, 64, stream.native());
      event.record(stream);
      event.synchronize();
    }
    EXPECT_EQ(fake_cuda::contexts(), std::set<int>{1});
    int current = -1;
    cudaGetDevice(&current);
    EXPECT_EQ(current, 0);
  })
      .join();
}

TEST_F(CudaHost, GuardsNest) {
  const cuda::DeviceGuard one(1);
  {
    const cuda::DeviceGuard other(0);
    const cuda::DeviceGuard same(0);
    EXPECT_EQ(cuda::current_device(), 0);
  }
  EXPECT_EQ(cuda::current_device(), 1);
  const cuda::DeviceGuard again(1);
  EXPECT_EQ(cuda::current_device(), 1);
}

TEST_F(CudaHost, DeviceThatCannotBecomeCurrentIsAnErrorAndForThoseWhoReleaseNone) {
  fake_cuda::fail("cuCtxPushCurrent", cudaErrorCudartUnloading, true);
  EXPECT_EQ(error_of([&] { cuda::DeviceGuard(1); }),
            "gpu(0): cuCtxPushCurrent: a reason (cudaErrorOther)");
  { const cuda::DeviceGuard guard(1, std::nothrow); }
  fake_cuda::reset();
  EXPECT_EQ(cuda::current_device(), 0);
}

TEST_F(CudaHost, MemoryBelongsToTheDeviceAskedFor) {
  void* data = api_.allocate(1, 1 << 20);
  EXPECT_EQ(api_.memory_info(0).free, fake_cuda::kCapacity);
  EXPECT_EQ(api_.memory_info(1).free, fake_cuda::kCapacity - (1 << 20));
  api_.release(1, data, 1 << 20);
  EXPECT_EQ(api_.memory_info(1).free, fake_cuda::kCapacity);
}

TEST_F(CudaHost, FullDeviceGivesNullAndLeavesNoErrorBehind) {
  EXPECT_EQ(api_.allocate(0, fake_cuda::kCapacity + 1), nullptr);
  EXPECT_EQ(fake_cuda::last_error(), cudaSuccess);
  EXPECT_EQ(api_.allocate_pinned(fake_cuda::kCapacity + 1), nullptr);
  EXPECT_EQ(fake_cuda::last_error(), cudaSuccess);
}

TEST_F(CudaHost, OtherFailuresOfAnAllocationAreErrors) {
  fake_cuda::fail("cudaMalloc", cudaErrorIllegalAddress);
  EXPECT_THROW(api_.allocate(0, 16), Error);
  EXPECT_EQ(fake_cuda::last_error(), cudaSuccess);
}

TEST_F(CudaHost, HandlesAreGivenBackAlsoWhenMakingOneFails) {
  const int before = fake_cuda::live_handles();
  {
    Stream stream(api_, 0), urgent(api_, 1, StreamPriority::kHigh);
    Event event(api_, 0);
    Buffer buffer(api_, Device::gpu(0), 64);
    EXPECT_EQ(fake_cuda::live_handles(), before + 4);
    fake_cuda::fail("cudaStreamCreateWithPriority", cudaErrorUnknown);
    EXPECT_THROW(Stream(api_, 0), Error);
    fake_cuda::fail("cudaEventCreateWithFlags", cudaErrorUnknown);
    EXPECT_THROW(Event(api_, 0), Error);
  }
  EXPECT_EQ(fake_cuda::live_handles(), before);
}

TEST_F(CudaHost, EveryFailedCallNamesItselfTheDeviceAndTheReason) {
  Stream stream(api_, 1);
  Event event(api_, 1);
  Buffer buffer(api_, Device::gpu(1), 64), other(api_, Device::gpu(0), 64);
  char host[64] = {};
  NativeStream* on = stream.native();
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"cudaStreamSynchronize", [&] { stream.synchronize(); }},
      {"cudaStreamWaitEvent", [&] { event.block(stream); }},
      {"cudaEventRecord", [&] { event.record(stream); }},
      {"cudaEventQuery", [&] { event.done(); }},
      {"cudaEventSynchronize", [&] { event.synchronize(); }},
      {"cudaMemcpyAsync", [&] { buffer.upload(host, stream); }},
      {"cudaMemcpyPeerAsync",
       [&] { api_.copy(buffer.data(), Device::gpu(1), other.data(), Device::gpu(0), 64, on); }},
      {"cudaMemsetAsync", [&] { api_.fill(1, buffer.data(), 0, 64, on); }},
      {"cudaLaunchHostFunc", [&] { api_.host_call(1, on, [] {}); }},
      {"cudaDeviceCanAccessPeer", [&] { api_.can_access_peer(1, 0); }},
      {"cudaDeviceEnablePeerAccess", [&] { api_.enable_peer_access(1, 0); }},
      {"cudaDeviceGetP2PAttribute", [&] { link_weights(api_); }},
  };
  for (const auto& [function, call] : calls) {
    fake_cuda::fail(function, cudaErrorLaunchFailure);
    const std::string message = error_of(call);
    EXPECT_EQ(message, std::string("gpu(1): ") + function + ": a reason (cudaErrorOther)");
    EXPECT_EQ(fake_cuda::last_error(), cudaSuccess) << function << " left its error behind";
  }
}

TEST_F(CudaHost, HostFunctionThatIsNotAcceptedIsNotLeaked) {
  Stream stream(api_, 0);
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> watch = held;
  fake_cuda::fail("cudaLaunchHostFunc", cudaErrorUnknown);
  EXPECT_THROW(api_.host_call(0, stream.native(), [held = std::move(held)] {}), Error);
  EXPECT_TRUE(watch.expired());
}

TEST_F(CudaHost, EventThatIsNotReadyIsNoError) {
  Event event(api_, 0);
  fake_cuda::fail("cudaEventQuery", cudaErrorNotReady);
  EXPECT_FALSE(event.done());
  EXPECT_EQ(fake_cuda::last_error(), cudaSuccess);
  EXPECT_TRUE(event.done());
}

TEST_F(CudaHost, CopyBetweenDevicesIsAPeerCopy) {
  Stream stream(api_, 1), first(api_, 0);
  Buffer from(api_, Device::gpu(0), 8), to(api_, Device::gpu(1), 8);
  const std::vector<uint8_t> sent = counting_bytes(8);
  std::vector<uint8_t> received(8);
  const int before = fake_cuda::peer_copies();
  from.upload(sent.data(), first);
  api_.copy(to.data(), Device::gpu(1), from.data(), Device::gpu(0), 8, stream.native());
  to.download(received.data(), stream);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(fake_cuda::peer_copies(), before + 1);
  EXPECT_THROW(
      api_.copy(to.data(), Device::gpu(1), from.data(), Device::gpu(5), 8, stream.native()), Error);
}

TEST_F(CudaHost, TheFirstCopyBetweenDevicesOpensTheLinkThatTheyHave) {
  for (const bool link : {false, true}) {
    const std::unique_ptr<CudaDeviceApi> fresh = CudaDeviceApi::create();
    fake_cuda::set_link(link);
    Stream stream(*fresh, 1);
    Buffer from(*fresh, Device::gpu(0), 8), to(*fresh, Device::gpu(1), 8);
    for (int i = 0; i < 2; ++i)
      fresh->copy(to.data(), Device::gpu(1), from.data(), Device::gpu(0), 8, stream.native());
    EXPECT_EQ(fake_cuda::reaches(1, 0), link);
    EXPECT_EQ(fake_cuda::last_error(), cudaSuccess);
  }
}

TEST_F(CudaHost, ALinkThatCannotBeOpenedStopsNoCopy) {
  const std::unique_ptr<CudaDeviceApi> fresh = CudaDeviceApi::create();
  fake_cuda::fail("cudaDeviceEnablePeerAccess", cudaErrorTooManyPeers);
  Stream stream(*fresh, 0);
  Buffer from(*fresh, Device::gpu(1), 8), to(*fresh, Device::gpu(0), 8);
  EXPECT_NO_THROW(
      fresh->copy(to.data(), Device::gpu(0), from.data(), Device::gpu(1), 8, stream.native()));
  EXPECT_EQ(fake_cuda::last_error(), cudaSuccess);
}

TEST_F(CudaHost, PeerAccessNeedsALinkAndMayBeEnabledTwice) {
  EXPECT_TRUE(api_.can_access_peer(0, 1));
  EXPECT_NO_THROW(api_.enable_peer_access(0, 1));
  EXPECT_NO_THROW(api_.enable_peer_access(0, 1));
  EXPECT_EQ(fake_cuda::last_error(), cudaSuccess);
  fake_cuda::set_link(false);
  EXPECT_FALSE(api_.can_access_peer(0, 1));
  EXPECT_THROW(api_.enable_peer_access(0, 1), Error);
}

TEST_F(CudaHost, FasterLinksWeighMoreAndTheSlowestWeighsOne) {
  fake_cuda::set_device_count(3);
  fake_cuda::set_link_rank(0, 2, 2);
  fake_cuda::set_link_rank(2, 0, 2);
  fake_cuda::set_link_rank(2, 1, 1);  // a link is as slow as its slower direction
  const auto three = CudaDeviceApi::create();
  EXPECT_EQ(link_weights(*three), (std::vector<double>{0, 3, 1,  //
                                                       3, 0, 2,  //
                                                       1, 2, 0}));
  fake_cuda::set_link(false);
  EXPECT_EQ(link_weights(*three), std::vector<double>(9, 0));
}

TEST_F(CudaHost, LinkThatTheDriverWillNotDescribeIsAnError) {
  fake_cuda::fail("cudaDeviceGetP2PAttribute", cudaErrorLaunchFailure);
  EXPECT_NE(error_of([&] { link_weights(api_); }).find("cudaDeviceGetP2PAttribute"),
            std::string::npos);
}

TEST_F(CudaHost, ForkedChildIsToldToSpawn) {
  Event event(api_, 0);
  fake_cuda::fail("cudaEventSynchronize", cudaErrorInitializationError);
  EXPECT_NE(error_of([&] { event.synchronize(); }).find("spawn"), std::string::npos);
}

TEST_F(CudaHost, WrongHandlesAreErrors) {
  Stream stream(api_, 0);
  Event event(api_, 0);
  EXPECT_THROW(api_.synchronize(1, stream.native()), Error);
  EXPECT_THROW(api_.record(1, event.native(), stream.native()), Error);
  EXPECT_THROW(api_.host_call(0, nullptr, [] {}), Error);
  EXPECT_THROW(api_.wait(0, stream.native(), nullptr), Error);
  int a = 0;
  EXPECT_THROW(api_.copy(&a, Device::cpu(), &a, Device::cpu(), 4, stream.native()), Error);
}

TEST_F(CudaHost, FreshMemoryIsNoNumberAndTheHostHearsOfWritesBesideIt) {
  constexpr std::size_t kBytes = 100;
  Stream stream(api_, 0);
  for (const std::ptrdiff_t beside : {std::ptrdiff_t{-1}, std::ptrdiff_t{kBytes}}) {
    auto* const data = static_cast<unsigned char*>(api_.allocate(0, kBytes));
    float number = 0;
    std::memcpy(&number, data, sizeof number);
    EXPECT_TRUE(std::isnan(number));
    stream.synchronize();
    if (kGuardsArePoisoned) {
      EXPECT_DEATH(data[beside] = 0, "use-after-poison");
      api_.release(0, data, kBytes);
      continue;
    }
    const unsigned char before = data[beside];
    data[beside] = 0;
    ::testing::internal::CaptureStderr();
    EXPECT_NE(error_of([&] { stream.synchronize(); }).find("cudaStreamSynchronize"),
              std::string::npos);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(" a block of 100 bytes"), std::string::npos) << said;
    data[beside] = before;
    stream.synchronize();
    api_.release(0, data, kBytes);
  }
}

TEST_F(CudaHost, MissingAndOldDriversAndNoDeviceAreToldApart) {
  const auto create = [] { CudaDeviceApi::create(); };
  fake_cuda::fail("cudaGetDeviceCount", cudaErrorInsufficientDriver, true);
  fake_cuda::set_driver_version(0);
  EXPECT_NE(error_of(create).find("no NVIDIA driver was found"), std::string::npos);
  fake_cuda::set_driver_version(12020);
  EXPECT_NE(error_of(create).find("supports CUDA 12.2"), std::string::npos);
  fake_cuda::fail("cudaGetDeviceCount", cudaErrorNoDevice, true);
  EXPECT_NE(error_of(create).find("shows no GPU"), std::string::npos);
  fake_cuda::fail("cudaGetDeviceCount", cudaErrorSystemNotReady, true);
  EXPECT_NE(error_of(create).find("failed to start"), std::string::npos);
  fake_cuda::reset();
  fake_cuda::set_device_count(0);
  EXPECT_NE(error_of(create).find("shows no GPU"), std::string::npos);
}

TEST_F(CudaHost, LaunchScopeFillsTheDeviceAndNoMore) {
  Stream stream(api_, 1);
  cudaSetDevice(0);
  {
    const cuda::LaunchScope scope(stream.native());
    int current = -1;
    cudaGetDevice(&current);
    EXPECT_EQ(current, 1);
    EXPECT_EQ(scope.blocks(1, 2), 1u);
    EXPECT_EQ(scope.blocks(3, 2), 2u);
    EXPECT_EQ(scope.blocks(int64_t{1} << 40, 2), 8u);  // 4 processors of 4 threads in the fake
    EXPECT_EQ(scope.blocks(1, 1024), 1u);
    EXPECT_NO_THROW(scope.check("kernel"));
  }
  EXPECT_THROW(cuda::LaunchScope(nullptr), Error);
}

}  // namespace
}  // namespace mxnet::testing
