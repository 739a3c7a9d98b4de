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
    if (ended_) return;
    paused_ = false;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void CompileQueue::drain() {
  go_on();
  MutexLock lock(mutex_);
  while (busy_ || !tasks_.empty()) changed_.wait(mutex_);
}

void CompileQueue::pause(bool for_good) {
  if (::getpid() != process_) return;
  MutexLock lock(mutex_);
  paused_ = true;
  if (for_good) {
    ended_ = true;
    tasks_.clear();
  }
  while (busy_) changed_.wait(mutex_);
}

void CompileQueue::go_on() {
  {
    MutexLock lock(mutex_);
    if (!paused_) return;
    paused_ = false;
  }
  changed_.notify_all();
}

void CompileQueue::run() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      busy_ = false;
      changed_.notify_all();
      while ((tasks_.empty() || paused_) && !stop_) changed_.wait(mutex_);
      if (stop_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_ = true;
    }
    task();
  }
}

}  // namespace mxnet::cuda
