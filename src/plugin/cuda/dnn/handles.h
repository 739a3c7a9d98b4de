// SPDX-License-Identifier: Apache-2.0
// cuDNN's handles: each call has one to itself, so that calls on different streams do not wait for
// each other.
#pragma once
#include <vector>

#include "base/lock.h"
#include "plugin/cuda/dnn/cudnn.h"

namespace mxnet::cuda {

// Handles of one device that nobody uses: there come to be as many as there were calls at the same
// time, and each call has one to itself. Thread-safe.
class CudnnHandles {
 public:
  // One for a call, on the call's stream.
  class Lent {
   public:
    Lent(CudnnHandles& owner, cudaStream_t stream) : owner_(owner), handle_(owner.take()) {
      const Cudnn& cudnn = Cudnn::get();
      cudnn.check(cudnn.set_stream(handle_, stream), "cudnnSetStream");
    }
    ~Lent() { owner_.give_back(handle_); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    cudnnHandle_t get() const { return handle_; }

   private:
    CudnnHandles& owner_;
    const cudnnHandle_t handle_;
  };

 private:
  cudnnHandle_t take() {
    {
      MutexLock lock(mutex_);
      if (!free_.empty()) {
        const cudnnHandle_t handle = free_.back();
        free_.pop_back();
        return handle;
      }
    }
    const Cudnn& cudnn = Cudnn::get();
    cudnnHandle_t handle = nullptr;
    cudnn.check(cudnn.create(&handle), "cudnnCreate");
    return handle;
  }
  void give_back(cudnnHandle_t handle) {
    MutexLock lock(mutex_);
    free_.push_back(handle);
  }

  Mutex mutex_;
  std::vector<cudnnHandle_t> free_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::cuda
