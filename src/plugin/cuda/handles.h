// SPDX-License-Identifier: Apache-2.0
// Owners of CUDA's handles.
#pragma once
#include <cuda_runtime_api.h>

#include <exception>
#include <memory>
#include <set>

#include "base/lock.h"
#include "device/device_api.h"

namespace mxnet::cuda {

// What a NativeStream of this api points to. Thread-safe.
class CudaStream {
 public:
  CudaStream(int device, StreamPriority priority);
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  static CudaStream* from(NativeStream* stream) { return reinterpret_cast<CudaStream*>(stream); }
  NativeStream* native() { return reinterpret_cast<NativeStream*>(this); }

  int device() const { return device_; }
  cudaStream_t handle() const { return handle_; }
  // How many threads the device holds at once.
  int64_t resident_threads() const { return resident_threads_; }
  // Compute capability of the device, as 90 for 9.0: launches of compiled source ask each time.
  int capability() const { return capability_; }

  // The first exception of a host function on this stream, kept until somebody synchronizes.
  void keep_error(std::exception_ptr error) noexcept;
  std::exception_ptr take_error();

  // What recorded work needs for as long as its graph lives: kernels that a library has loaded for
  // one plan, say. Nothing is kept where no work is being recorded. A thread records one graph at a
  // time, and what it puts on a second stream meanwhile is part of that.
  using Used = std::set<std::shared_ptr<const void>>;
  void begin_recording();
  static bool records() { return recording_ != nullptr; }
  static void use(std::shared_ptr<const void> object);
  Used end_recording();

 private:
  const int device_;
  cudaStream_t handle_ = nullptr;
  int64_t resident_threads_ = 0;
  int capability_ = 0;
  Mutex mutex_;
  std::exception_ptr error_ MX_GUARDED_BY(mutex_);
  Used used_ MX_GUARDED_BY(mutex_);
  static thread_local CudaStream* recording_;  // by the calling thread; null for most
};

// What a NativeEvent points to. Thread-safe.
class CudaEvent {
 public:
  explicit CudaEvent(int device);
  ~CudaEvent();
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  static CudaEvent* from(NativeEvent* event) { return reinterpret_cast<CudaEvent*>(event); }
  NativeEvent* native() { return reinterpret_cast<NativeEvent*>(this); }

  int device() const { return device_; }
  cudaEvent_t handle() const { return handle_; }

 private:
  const int device_;
  cudaEvent_t handle_ = nullptr;
};

}  // namespace mxnet::cuda
