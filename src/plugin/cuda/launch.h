// SPDX-License-Identifier: Apache-2.0
// What a .cu file needs to launch a kernel on one of our streams. C++17, and free of the core's
// headers, so that nvcc sees as little as possible.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "plugin/cuda/device_guard.h"

namespace mxnet {

struct NativeStream;

namespace cuda {

constexpr int kThreads = 256;  // of a block: enough blocks for every occupancy, whole warps
constexpr int kWarp = 32;

// Makes the stream's device current as long as it lives. For one launch on one thread.
class LaunchScope {
 public:
  explicit LaunchScope(NativeStream* stream);  // throws Error(kValue) if null
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

  cudaStream_t stream() const { return stream_; }
  // Blocks for a grid-stride loop over `items`: as many as the device holds at once, no more
  // than there is work.
  unsigned blocks(int64_t items, int threads_per_block) const;
  // After the launch: throws if the kernel could not start.
  void check(const char* kernel) const;

 private:
  const DeviceGuard guard_;
  const cudaStream_t stream_;
  const int64_t resident_threads_;
};

}  // namespace cuda
}  // namespace mxnet
