// SPDX-License-Identifier: Apache-2.0
// The compiling thread.
#include "plugin/cuda/rtc/compile_queue.h"

#include <utility>

namespace mxnet::cuda {

CompileQueue::~CompileQueue() {
  std::thread thread;
  {
    MutexLock lock(mutex_);
    stop_ = true;
    tasks_.clear();
    thread = std::move(thread_);
  }
  changed_.notify_all();
  if (thread.joinable()) thread.join();
}

void CompileQueue::push(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void CompileQueue::drain() {
  MutexLock lock(mutex_);
  while (busy_ || !tasks_.empty()) changed_.wait(mutex_);
}

void CompileQueue::run() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      busy_ = false;
      changed_.notify_all();
      while (tasks_.empty() && !stop_) changed_.wait(mutex_);
      if (stop_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_ = true;
    }
    task();
  }
}

}  // namespace mxnet::cuda
