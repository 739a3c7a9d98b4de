// SPDX-License-Identifier: Apache-2.0
// How long work on a stream takes, for choices among a library's ways to do it.
#pragma once
#include <cuda_runtime_api.h>

#include "plugin/cuda/check.h"

namespace mxnet::cuda {

// Milliseconds of the fastest of some runs on `stream`.
class Stopwatch {
 public:
  static constexpr int kRuns = 3;
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    MX_CUDA_CALL(cudaEventCreate(&begin_));
    if (const cudaError_t error = cudaEventCreate(&end_); error != cudaSuccess) {
      cudaEventDestroy(begin_);
      throw_error(error, "cudaEventCreate");
    }
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  template <class Run>
  double fastest(const Run& run) {
    run();  // loads the kernel
    float best = 0;
    for (int i = 0; i < kRuns; ++i) {
      MX_CUDA_CALL(cudaEventRecord(begin_, stream_));
      run();
      MX_CUDA_CALL(cudaEventRecord(end_, stream_));
      MX_CUDA_CALL(cudaEventSynchronize(end_));
      float milliseconds = 0;
      MX_CUDA_CALL(cudaEventElapsedTime(&milliseconds, begin_, end_));
      if (i == 0 || milliseconds < best) best = milliseconds;
    }
    return best;
  }

 private:
  const cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace mxnet::cuda
