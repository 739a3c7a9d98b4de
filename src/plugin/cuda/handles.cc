// SPDX-License-Identifier: Apache-2.0
// Destructors ignore errors: at process exit the runtime may be gone before us, and there is nobody
// to tell.
#include "plugin/cuda/handles.h"

#include <utility>

#include "plugin/cuda/check.h"
#include "plugin/cuda/device_guard.h"

namespace mxnet::cuda {

thread_local CudaStream* CudaStream::recording_ = nullptr;

CudaStream::CudaStream(int device, StreamPriority priority) : device_(device) {
  const DeviceGuard guard(device);
  int processors = 0, threads = 0;
  MX_CUDA_CALL(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  MX_CUDA_CALL(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  resident_threads_ = int64_t{processors} * threads;
  int major = 0, minor = 0;
  MX_CUDA_CALL(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  MX_CUDA_CALL(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  capability_ = 10 * major + minor;
  int lowest = 0, highest = 0;  // smaller numbers are more urgent
  MX_CUDA_CALL(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  // Non-blocking: nobody's use of the default stream orders ours.
  MX_CUDA_CALL(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking,
                                            priority == StreamPriority::kHigh ? highest : lowest));
}

CudaStream::~CudaStream() {
  if (recording_ == this) recording_ = nullptr;  // an error has kept the recording from its end
  const DeviceGuard guard(device_, std::nothrow);
  // Waits: host functions still queued refer to this object.
  cudaStreamSynchronize(handle_);
  cudaStreamDestroy(handle_);
}

void CudaStream::keep_error(std::exception_ptr error) noexcept {
  MutexLock lock(mutex_);
  if (error_ == nullptr) error_ = std::move(error);
}

std::exception_ptr CudaStream::take_error() {
  MutexLock lock(mutex_);
  return std::exchange(error_, nullptr);
}

void CudaStream::begin_recording() { recording_ = this; }

void CudaStream::use(std::shared_ptr<const void> object) {
  if (recording_ == nullptr) return;
  MutexLock lock(recording_->mutex_);
  recording_->used_.insert(std::move(object));
}

CudaStream::Used CudaStream::end_recording() {
  recording_ = nullptr;
  MutexLock lock(mutex_);
  return std::exchange(used_, {});
}

CudaEvent::CudaEvent(int device) : device_(device) {
  DeviceGuard guard(device);
  MX_CUDA_CALL(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming));
}

CudaEvent::~CudaEvent() {
  const DeviceGuard guard(device_, std::nothrow);
  cudaEventDestroy(handle_);
}

}  // namespace mxnet::cuda
