// SPDX-License-Identifier: Apache-2.0
// A thread that calls a function again and again, with a pause in between.
#pragma once
#include <chrono>
#include <functional>
#include <thread>

#include "base/lock.h"

namespace mxnet::profiler {

// Made and destroyed by one thread; destroying waits for a call that is being made.
class PeriodicCall {
 public:
  // `function` must not throw.
  PeriodicCall(std::chrono::duration<double> period, std::function<void()> function);
  ~PeriodicCall();
  PeriodicCall(const PeriodicCall&) = delete;
  PeriodicCall& operator=(const PeriodicCall&) = delete;

 private:
  void loop();

  const std::chrono::steady_clock::duration period_;
  const std::function<void()> function_;
  Mutex mutex_;
  CondVar changed_;
  bool ending_ MX_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace mxnet::profiler
