// SPDX-License-Identifier: Apache-2.0
// One thread that compiles, apart from the threads that compute: a compilation takes a second, and
// nobody has to wait for it.
#pragma once
#include <unistd.h>

#include <deque>
#include <functional>
#include <thread>

#include "base/lock.h"

namespace mxnet::cuda {

// Thread-safe. The thread starts with the first task. Tasks must not throw.
class CompileQueue {
 public:
  CompileQueue() = default;
  ~CompileQueue();  // drops what has not begun, waits for what has
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  void push(std::function<void()> task);
  void drain();  // waits until all tasks are done
  // Waits for the task that runs. Those behind it begin after a push, drain() or go_on();
  // `for_good`: never. Nothing happens in a forked child, which has no such thread.
  void pause(bool for_good);
  void go_on();

 private:
  void run();

  const pid_t process_ = ::getpid();
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ MX_GUARDED_BY(mutex_);
  bool busy_ MX_GUARDED_BY(mutex_) = false;
  bool paused_ MX_GUARDED_BY(mutex_) = false;
  bool ended_ MX_GUARDED_BY(mutex_) = false;  // paused for good
  bool stop_ MX_GUARDED_BY(mutex_) = false;
  std::thread thread_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet::cuda
