// SPDX-License-Identifier: Apache-2.0
// The queue, the thread that empties it, and what a fork leaves of them.
#include "device/sim/sim_stream.h"

#include <new>
#include <utility>

#include "base/error.h"

namespace mxnet {
namespace {
thread_local SimStream* t_running = nullptr;
}  // namespace

void SimProgress::await(uint64_t ticket) const {
  // Acquire: as in reached().
  for (uint64_t now = finished_.load(std::memory_order_acquire); now < ticket;
       now = finished_.load(std::memory_order_acquire)) {
    finished_.wait(now, std::memory_order_acquire);
  }
}

void SimProgress::finish_one() {
  // Release: publishes what the task wrote. Only the stream's thread writes.
  finished_.fetch_add(1, std::memory_order_release);
  finished_.notify_all();
}

void SimProgress::fail(uint64_t ticket, std::exception_ptr error) {
  SpinGuard guard(lock_);
  if (error_ != nullptr) return;
  error_ = std::move(error);
  failed_ = ticket;
}

std::exception_ptr SimProgress::take_error() {
  SpinGuard guard(lock_);
  return std::exchange(error_, nullptr);
}

std::exception_ptr SimProgress::error_before(uint64_t ticket) const {
  SpinGuard guard(lock_);
  return failed_ <= ticket ? error_ : nullptr;
}

void SimMark::synchronize() const {
  if (progress == nullptr) return;
  progress->await(ticket);
  if (std::exception_ptr error = progress->error_before(ticket)) std::rethrow_exception(error);
}

SimStream* SimStream::running() { return t_running; }

SimStream::~SimStream() {
  std::thread thread;
  {
    MutexLock lock(mutex_);
    stop_ = true;
    thread = std::move(thread_);
  }
  work_.notify_one();
  if (thread.joinable()) thread.join();
}

SimMark SimStream::push(Task task, const SimTransfer* transfer) {
  uint64_t ticket;
  {
    MutexLock lock(mutex_);
    if (capturing_) {
      captured_.push_back({std::move(task), {}});
      if (transfer != nullptr) captured_.back().transfer = *transfer;
      return {progress_, pushed_};
    }
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    queue_.push_back(std::move(task));
    ticket = ++pushed_;
  }
  work_.notify_one();
  return {progress_, ticket};
}

void SimStream::begin_capture() {
  MutexLock lock(mutex_);
  if (capturing_) throw Error(ErrorCode::kInternal, "sim", "the stream is capturing already");
  capturing_ = true;
}

std::vector<SimStream::Recorded> SimStream::end_capture() {
  MutexLock lock(mutex_);
  if (!capturing_) throw Error(ErrorCode::kInternal, "sim", "the stream is not capturing");
  capturing_ = false;
  return std::exchange(captured_, {});
}

SimMark SimStream::mark() {
  MutexLock lock(mutex_);
  return {progress_, pushed_};
}

void SimStream::synchronize() {
  {
    MutexLock lock(mutex_);
    if (capturing_)
      throw Error(ErrorCode::kInternal, "sim", "a stream that captures cannot be waited for");
  }
  mark().await();
  if (std::exception_ptr error = progress_->take_error()) std::rethrow_exception(error);
}

void SimStream::before_fork() MX_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.lock();
  progress_->lock_for_fork();
}

void SimStream::after_fork(bool in_child) MX_NO_THREAD_SAFETY_ANALYSIS {
  progress_->unlock_after_fork();
  if (in_child) {
    // The thread is not there, nor is whoever waited on the condition: both objects describe the
    // parent's, and destroying them would wait for it. The tasks are leaked with what they
    // captured, which may be half used.
    new (&thread_) std::thread;
    new (&work_) CondVar;
    new (&queue_) std::deque<Task>;
    if (!progress_->reached(pushed_)) {
      progress_->skip_to(pushed_);
      progress_->fail(0, std::make_exception_ptr(
                             Error(ErrorCode::kGeneric, "sim",
                                   "work that was on a stream at fork is lost in the child")));
    }
    if (t_running == this) t_running = nullptr;
  }
  mutex_.unlock();
}

void SimStream::run() {
  t_running = this;
  while (true) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stop_) work_.wait(mutex_);
      if (queue_.empty())
        return;  // stop only when the queue is empty: destruction finishes the work
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    try {
      task();
    } catch (...) {
      progress_->fail_in_progress(std::current_exception());
    }
    task.reset();  // what it captured is gone before anybody learns that it is done
    progress_->finish_one();
  }
}

}  // namespace mxnet
