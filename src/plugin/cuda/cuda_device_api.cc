// SPDX-License-Identifier: Apache-2.0
// Each call checks its arguments, makes the right device current, calls CUDA once and translates
// the answer.
#include "plugin/cuda/cuda_device_api.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "device/device_check.h"
#include "plugin/cuda/check.h"
#include "plugin/cuda/device_guard.h"
#include "plugin/cuda/handles.h"

namespace mxnet::cuda {
namespace {

std::string version_text(int version) {  // 13000 is 13.0
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// Why cudaGetDeviceCount failed, in terms of what the user can do.
[[noreturn]] void throw_unusable(cudaError_t error) {
  int driver = 0;
  cudaDriverGetVersion(&driver);  // 0 without a driver
  cudaGetLastError();
  std::string message;
  if (driver == 0) {
    message = "no NVIDIA driver was found (libcuda.so.1): install one, or use mx.cpu()";
  } else if (error == cudaErrorInsufficientDriver) {
    message =
        fmt::format("the NVIDIA driver supports CUDA {}, this build needs {}: update the driver",
                    version_text(driver), version_text(CUDART_VERSION));
  } else if (error == cudaErrorNoDevice || error == cudaSuccess) {
    message = "the NVIDIA driver shows no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES";
  } else {
    message = fmt::format("the NVIDIA driver failed to start: {} ({})", cudaGetErrorString(error),
                          cudaGetErrorName(error));
  }
  throw Error(ErrorCode::kGeneric, "cuda", message);
}

// A function on its way through a stream. CUDA drops it, unrun, if the context has failed before.
struct HostCall {
  CudaStream& stream;
  InlineFunction<void()> fn;

  static void CUDART_CB run(void* self) {
    const std::unique_ptr<HostCall> call(static_cast<HostCall*>(self));
    try {
      call->fn();
    } catch (...) {
      call->stream.keep_error(std::current_exception());
    }
  }
};

// No machine has so much memory. Such sizes are not asked for: CUDA may call them invalid, and not
// too large.
constexpr std::size_t kMostBytes = std::size_t{1} << 47;

// Null is the answer to a full device; anything else that went wrong is an error.
void* null_if_full(cudaError_t result, void* data, const char* call) {
  if (result == cudaSuccess) return data;
  if (result != cudaErrorMemoryAllocation) throw_error(result, call);
  cudaGetLastError();
  return nullptr;
}

}  // namespace

std::unique_ptr<CudaDeviceApi> CudaDeviceApi::create() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) throw_unusable(error);
  return std::unique_ptr<CudaDeviceApi>(new CudaDeviceApi(count));
}

void CudaDeviceApi::check_device(int device) const { check_ordinal(name(), device, count_); }

CudaStream& CudaDeviceApi::stream_of(int device, NativeStream* stream) const {
  check_device(device);
  CudaStream* mine = CudaStream::from(stream);
  if (mine != nullptr && mine->device() == device) return *mine;
  throw Error(ErrorCode::kValue, name(), fmt::format("given no stream of gpu({})", device));
}

CudaEvent& CudaDeviceApi::event_of(int device, NativeEvent* event) const {
  check_device(device);
  CudaEvent* mine = CudaEvent::from(event);
  if (mine != nullptr && mine->device() == device) return *mine;
  throw Error(ErrorCode::kValue, name(), fmt::format("given no event of gpu({})", device));
}

DeviceProperties CudaDeviceApi::properties(int device) {
  check_device(device);
  cudaDeviceProp info;
  MX_CUDA_CALL_ABOUT(device, cudaGetDeviceProperties(&info, device));
  DeviceProperties result;
  result.name = info.name;
  result.total_memory = info.totalGlobalMem;
  result.compute_major = info.major;
  result.compute_minor = info.minor;
  result.multiprocessors = info.multiProcessorCount;
  if (cudaDeviceGetAttribute(&result.numa_node, cudaDevAttrHostNumaId, device) != cudaSuccess) {
    cudaGetLastError();  // a driver that does not know the attribute
    result.numa_node = -1;
  }
  return result;
}

MemoryInfo CudaDeviceApi::memory_info(int device) {
  check_device(device);
  DeviceGuard guard(device);
  MemoryInfo info;
  MX_CUDA_CALL(cudaMemGetInfo(&info.free, &info.total));
  return info;
}

void* CudaDeviceApi::allocate(int device, std::size_t bytes) {
  check_device(device);
  if (bytes > kMostBytes) return nullptr;
  DeviceGuard guard(device);
  void* data = nullptr;
  const MutexLock lock(waits_for_all_);
  const cudaError_t result = cudaMalloc(&data, std::max<std::size_t>(bytes, 1));
  return null_if_full(result, data, "cudaMalloc");
}

void CudaDeviceApi::release(int device, void* data, std::size_t) noexcept {
  if (data == nullptr) return;
  const MutexLock lock(waits_for_all_);
  const DeviceGuard guard(device, std::nothrow);
  cudaFree(data);  // waits for the device's work by itself
}

void* CudaDeviceApi::allocate_pinned(std::size_t bytes) {
  if (bytes > kMostBytes) return nullptr;
  void* data = nullptr;
  // Portable: pinned for every device, not only the current one, which needs a context for it.
  const MutexLock lock(waits_for_all_);
  const DeviceGuard guard(any_used_device());
  const cudaError_t result =
      cudaHostAlloc(&data, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable);
  return null_if_full(result, data, "cudaHostAlloc");
}

void CudaDeviceApi::release_pinned(void* data, std::size_t) noexcept {
  if (data == nullptr) return;
  const MutexLock lock(waits_for_all_);
  const DeviceGuard guard(any_used_device(), std::nothrow);
  cudaFreeHost(data);
}

NativeStream* CudaDeviceApi::create_stream(int device, StreamPriority priority) {
  check_device(device);
  return (new CudaStream(device, priority))->native();
}

void CudaDeviceApi::destroy_stream(int, NativeStream* stream) noexcept {
  delete CudaStream::from(stream);
}

void CudaDeviceApi::synchronize(int device, NativeStream* stream) {
  CudaStream& mine = stream_of(device, stream);
  DeviceGuard guard(device);
  MX_CUDA_CALL(cudaStreamSynchronize(mine.handle()));
  if (std::exception_ptr error = mine.take_error()) std::rethrow_exception(error);
}

NativeEvent* CudaDeviceApi::create_event(int device) {
  check_device(device);
  return (new CudaEvent(device))->native();
}

void CudaDeviceApi::destroy_event(int, NativeEvent* event) noexcept {
  delete CudaEvent::from(event);
}

void CudaDeviceApi::record(int device, NativeEvent* event, NativeStream* stream) {
  const CudaEvent& mine = event_of(device, event);
  const CudaStream& on = stream_of(device, stream);
  DeviceGuard guard(device);
  MX_CUDA_CALL(cudaEventRecord(mine.handle(), on.handle()));
}

void CudaDeviceApi::wait(int device, NativeStream* stream, NativeEvent* event) {
  const CudaStream& waiting = stream_of(device, stream);
  if (event == nullptr) throw Error(ErrorCode::kValue, name(), "given no event");
  DeviceGuard guard(device);
  MX_CUDA_CALL(cudaStreamWaitEvent(waiting.handle(), CudaEvent::from(event)->handle(), 0));
}

bool CudaDeviceApi::done(int device, NativeEvent* event) {
  const CudaEvent& mine = event_of(device, event);
  DeviceGuard guard(device);
  const cudaError_t result = cudaEventQuery(mine.handle());
  if (result == cudaErrorNotReady) {
    cudaGetLastError();  // an answer, not an error
    return false;
  }
  check(result, "cudaEventQuery");
  return true;
}

void CudaDeviceApi::synchronize(int device, NativeEvent* event) {
  const CudaEvent& mine = event_of(device, event);
  DeviceGuard guard(device);
  MX_CUDA_CALL(cudaEventSynchronize(mine.handle()));
}

void CudaDeviceApi::copy(void* to_data, Device to, const void* from_data, Device from,
                         std::size_t bytes, NativeStream* stream) {
  check_gpu_end(name(), to, from);
  const CudaStream& on = stream_of(to.is_gpu() ? to.id : from.id, stream);
  if (bytes == 0) return;
  DeviceGuard guard(on.device());
  if (to.is_gpu() && from.is_gpu() && to.id != from.id) {
    check_device(from.id);
    // Over a link where peer access is enabled, staged through the host otherwise.
    connect(on.device(), on.device() == to.id ? from.id : to.id);
    MX_CUDA_CALL(cudaMemcpyPeerAsync(to_data, to.id, from_data, from.id, bytes, on.handle()));
    return;
  }
  const cudaMemcpyKind kind = !from.is_gpu() ? cudaMemcpyHostToDevice
                              : to.is_gpu()  ? cudaMemcpyDeviceToDevice
                                             : cudaMemcpyDeviceToHost;
  MX_CUDA_CALL(cudaMemcpyAsync(to_data, from_data, bytes, kind, on.handle()));
}

void CudaDeviceApi::fill(int device, void* data, unsigned char value, std::size_t bytes,
                         NativeStream* stream) {
  const CudaStream& on = stream_of(device, stream);
  if (bytes == 0) return;
  DeviceGuard guard(device);
  MX_CUDA_CALL(cudaMemsetAsync(data, value, bytes, on.handle()));
}

void CudaDeviceApi::host_call(int device, NativeStream* stream, InlineFunction<void()> fn) {
  CudaStream& on = stream_of(device, stream);
  if (CudaStream::records())  // a graph would run again what has gone with its first run
    throw Error(ErrorCode::kNotImplemented, name(), "given a host function to be recorded");
  DeviceGuard guard(device);
  auto call = std::make_unique<HostCall>(HostCall{on, std::move(fn)});
  MX_CUDA_CALL(cudaLaunchHostFunc(on.handle(), HostCall::run, call.get()));
  static_cast<void>(call.release());  // run() owns it now
}

void CudaDeviceApi::connect(int device, int peer) {
  if (!config().kvstore.enable_gpu_p2p) return;
  {
    const MutexLock lock(connecting_);
    if (!connected_.emplace(device, peer).second) return;
  }
  int yes = 0;
  const DeviceGuard guard(device);
  if (cudaDeviceCanAccessPeer(&yes, device, peer) == cudaSuccess && yes != 0)
    cudaDeviceEnablePeerAccess(peer, 0);
  cudaGetLastError();  // it is there already, or the device has too many: copies go another way
}

bool CudaDeviceApi::can_access_peer(int device, int peer) {
  check_device(device);
  check_device(peer);
  if (device == peer) return true;  // CUDA says no
  int yes = 0;
  MX_CUDA_CALL_ABOUT(device, cudaDeviceCanAccessPeer(&yes, device, peer));
  return yes != 0;
}

void CudaDeviceApi::enable_peer_access(int device, int peer) {
  if (!can_access_peer(device, peer)) {
    throw Error(ErrorCode::kValue, name(),
                fmt::format("gpu({}) has no link to gpu({})", device, peer));
  }
  if (device == peer) return;
  DeviceGuard guard(device);
  const cudaError_t result = cudaDeviceEnablePeerAccess(peer, 0);
  if (result == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return;
  }
  check(result, "cudaDeviceEnablePeerAccess");
}

}  // namespace mxnet::cuda
