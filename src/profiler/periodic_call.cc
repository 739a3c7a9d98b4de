// SPDX-License-Identifier: Apache-2.0
// Sleeping that can be cut short.
#include "profiler/periodic_call.h"

#include <pthread.h>

#include <utility>

#include "base/worker_thread.h"

namespace mxnet::profiler {

PeriodicCall::PeriodicCall(std::chrono::duration<double> period, std::function<void()> function)
    : period_(std::chrono::duration_cast<std::chrono::steady_clock::duration>(period)),
      function_(std::move(function)),
      thread_([this] { loop(); }) {}

PeriodicCall::~PeriodicCall() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PeriodicCall::loop() {
  prepare_worker_thread();
  ::pthread_setname_np(::pthread_self(), "mx-profiler");
  for (;;) {
    {
      MutexLock lock(mutex_);
      const auto deadline = std::chrono::steady_clock::now() + period_;
      while (!ending_ && changed_.wait_until(mutex_, deadline)) {
      }
      if (ending_) return;
    }
    function_();
  }
}

}  // namespace mxnet::profiler
