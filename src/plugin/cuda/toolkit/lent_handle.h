// SPDX-License-Identifier: Apache-2.0
// Handles of a library that works on the handle's stream: each call has one to itself, so that
// calls on different streams do not wait for each other.
#pragma once
#include <cuda_runtime_api.h>

#include <vector>

#include "base/lock.h"

namespace mxnet::cuda {

// Handles of one device that nobody uses: there come to be as many as there were calls at the same
// time. `Api` is the table of the library, with create, set_stream, check() and the names of the
// calls. Thread-safe.
template <class Raw, class Api>
class Handles {
 public:
  // One for a call, on the call's stream.
  class Lent {
   public:
    Lent(Handles& owner, cudaStream_t stream) : owner_(owner), handle_(owner.take(stream)) {}
    ~Lent() { owner_.give_back(handle_); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    Raw get() const { return handle_; }

   private:
    Handles& owner_;
    const Raw handle_;
  };

 private:
  Raw take(cudaStream_t stream) {
    const Api& api = Api::get();
    Raw handle = unused();
    if (handle == nullptr) api.check(api.create(&handle), Api::kCreate);
    try {
      api.check(api.set_stream(handle, stream), Api::kSetStream);
    } catch (...) {
      give_back(handle);
      throw;
    }
    return handle;
  }
  Raw unused() {
    MutexLock lock(mutex_);
    if (free_.empty()) return nullptr;
    const Raw handle = free_.back();
    free_.pop_back();
    return handle;
  }
  void give_back(Raw handle) {
    MutexLock lock(mutex_);
    free_.push_back(handle);
  }

  Mutex mutex_;
  std::vector<Raw> free_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::cuda
