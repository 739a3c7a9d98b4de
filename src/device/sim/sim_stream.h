// SPDX-License-Identifier: Apache-2.0
// A stream of the simulator: a queue and a thread that empties it. The thread starts with the first
// piece of work and sleeps when there is none.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/inline_function.h"
#include "base/lock.h"
#include "base/spin_lock.h"

namespace mxnet {

class SimDeviceApi;

// How far a stream has come, and what failed on the way. Outlives the stream while events refer to
// it. Thread-safe.
class SimProgress {
 public:
  bool reached(uint64_t ticket) const {
    // Acquire pairs with finish_one: whoever sees the work done sees what it wrote.
    return finished_.load(std::memory_order_acquire) >= ticket;
  }
  void await(uint64_t ticket) const;
  void finish_one();
  // In a forked child, where nobody waits yet: what was pushed will never run.
  void skip_to(uint64_t ticket) { finished_.store(ticket, std::memory_order_relaxed); }

  // The piece of work `ticket` has thrown `error`. The first one is kept until it is taken.
  void fail(uint64_t ticket, std::exception_ptr error);
  void fail_in_progress(std::exception_ptr error) {  // Relaxed: for the stream's own thread
    fail(finished_.load(std::memory_order_relaxed) + 1, std::move(error));
  }
  std::exception_ptr take_error();                         // null where there is none
  std::exception_ptr error_before(uint64_t ticket) const;  // stays, for the stream to throw

  void lock_for_fork() MX_ACQUIRE(lock_) { lock_.lock(); }
  void unlock_after_fork() MX_RELEASE(lock_) { lock_.unlock(); }

 private:
  std::atomic<uint64_t> finished_{0};
  mutable SpinLock lock_;
  std::exception_ptr error_ MX_GUARDED_BY(lock_);
  uint64_t failed_ MX_GUARDED_BY(lock_) = 0;  // the piece of work that threw it
};

// A point in a stream's work: everything pushed before it. Default: a point that has passed.
struct SimMark {
  std::shared_ptr<const SimProgress> progress;
  uint64_t ticket = 0;

  bool reached() const { return progress == nullptr || progress->reached(ticket); }
  void await() const {
    if (progress != nullptr) progress->await(ticket);
  }
  // As await; then throws what failed before this point and has not been thrown by its stream.
  void synchronize() const;
};

// A copy or a fill on its way: all of it is seen, so that a graph may do it elsewhere. Small enough
// to travel inside a stream's task.
struct SimTransfer {
  static constexpr int32_t kHost = -1, kCopied = -1;

  SimDeviceApi* api;
  void* to_data;
  const void* from_data;
  std::size_t bytes;
  int32_t to, from;         // ordinals or kHost
  int32_t value = kCopied;  // of all bytes, where it is a fill

  void operator()() const;  // in sim_access.cc
};

// Thread-safe.
// Invariants: 1. tasks run one at a time, in the order of push. 2. progress counts every task once,
// whether it threw or not. 3. no lock is held while a task runs.
class SimStream {
 public:
  using Task = InlineFunction<void()>;
  struct Recorded {
    Task task;
    std::optional<SimTransfer> transfer;  // which is all that the task does
  };

  SimStream(SimDeviceApi& api, int device) : api_(api), device_(device) {}
  ~SimStream();  // after its work is done
  SimStream(const SimStream&) = delete;
  SimStream& operator=(const SimStream&) = delete;

  SimDeviceApi& api() const { return api_; }
  int device() const { return device_; }
  // Returns the point behind `task`.
  SimMark push(Task task) { return push(std::move(task), nullptr); }
  SimMark push(const SimTransfer& transfer) { return push(Task(transfer), &transfer); }
  SimMark mark();  // the point behind everything pushed so far
  // Waits for everything pushed before; then throws the first error that no call has thrown yet.
  void synchronize();

  // Between the two, pushed tasks are recorded instead of run, and synchronize() throws
  // Error(kInternal); the second gives the tasks.
  void begin_capture();
  std::vector<Recorded> end_capture();

  // Around a fork. The child's stream has no thread and no work; if there was some, synchronize
  // tells.
  void before_fork() MX_ACQUIRE(mutex_);
  void after_fork(bool in_child) MX_RELEASE(mutex_);

  // The stream whose task the calling thread is running, else null.
  static SimStream* running();

 private:
  SimMark push(Task task, const SimTransfer* transfer);
  void run();

  SimDeviceApi& api_;
  const int device_;
  const std::shared_ptr<SimProgress> progress_ = std::make_shared<SimProgress>();
  Mutex mutex_;
  std::deque<Task> queue_ MX_GUARDED_BY(mutex_);
  uint64_t pushed_ MX_GUARDED_BY(mutex_) = 0;
  bool stop_ MX_GUARDED_BY(mutex_) = false;
  bool capturing_ MX_GUARDED_BY(mutex_) = false;
  std::vector<Recorded> captured_ MX_GUARDED_BY(mutex_);
  CondVar work_;
  std::thread thread_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet
