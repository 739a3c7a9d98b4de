// SPDX-License-Identifier: Apache-2.0
// The end of an engine operation that consists of several requests to a group of processes.
#pragma once
#include <atomic>
#include <exception>
#include <utility>

#include "base/lock.h"
#include "engine/engine.h"

namespace mxnet::kvstore {

// Thread-safe. Ends the operation when the last part has ended; with the first error, if any.
// Errors are handed on: whoever waits for the operation is the last to hold what it throws.
class Ending {
 public:
  Ending(OnComplete complete, int64_t parts) : complete_(complete), left_(parts) {}
  void end(std::exception_ptr error) {
    if (error) {
      const MutexLock lock(mutex_);
      if (!error_) error_ = std::move(error);
    }
    // Acquire and release: the last one sees the errors of the others.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    if (std::exception_ptr first = take()) {
      complete_.fail(std::move(first));
    } else {
      complete_();
    }
  }

 private:
  std::exception_ptr take() {
    const MutexLock lock(mutex_);
    return std::exchange(error_, nullptr);
  }

  const OnComplete complete_;
  std::atomic<int64_t> left_;
  Mutex mutex_;
  std::exception_ptr error_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::kvstore
