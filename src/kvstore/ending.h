// SPDX-License-Identifier: Apache-2.0
// The end of what consists of several requests to a group of processes: of an engine operation, or
// of what somebody else waits for.
#pragma once
#include <atomic>
#include <exception>
#include <utility>

#include "base/inline_function.h"
#include "base/lock.h"
#include "engine/engine.h"

namespace mxnet::kvstore {

// Thread-safe. Ends the whole when the last part has ended; with the first error, or null. Errors
// are handed on: whoever waits for the whole is the last to hold what it throws.
class Ending {
 public:
  using Done = InlineFunction<void(std::exception_ptr)>;
  Ending(Done done, int64_t parts) : done_(std::move(done)), left_(parts) {}
  Ending(OnComplete complete, int64_t parts)
      : Ending([complete](std::exception_ptr error) { complete.fail(std::move(error)); }, parts) {}
  void end(std::exception_ptr error) {
    if (error) {
      const MutexLock lock(mutex_);
      if (!error_) error_ = std::move(error);
    }
    // Acquire and release: the last one sees the errors of the others.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    done_(take());
  }

 private:
  std::exception_ptr take() {
    const MutexLock lock(mutex_);
    return std::exchange(error_, nullptr);
  }

  Done done_;
  std::atomic<int64_t> left_;
  Mutex mutex_;
  std::exception_ptr error_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::kvstore
