// SPDX-License-Identifier: Apache-2.0
// The threads, and who takes which item.
#include "io/worker_pool.h"

#include <algorithm>

#include "base/omp.h"
#include "base/worker_thread.h"

namespace mxnet::io {

WorkerPool::WorkerPool(int threads) {
  try {
    for (int i = 0; i < std::max(threads, 1); ++i)
      threads_.emplace_back([this, i] { work_for_ever(i); });
  } catch (...) {  // those that there are: a thread that nobody joins ends the process
    stop();
    throw;
  }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(int64_t items, const Work& work) {
  const MutexLock lock(mutex_);
  work_ = &work;
  items_ = items;
  failure_ = nullptr;
  next_.store(0, std::memory_order_relaxed);  // the mutex orders it
  busy_ = threads();
  ++round_;
  changed_.notify_all();
  while (busy_ > 0) changed_.wait(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void WorkerPool::work_for_ever(int worker) {
  prepare_worker_thread();
  const OneThread narrow;  // an image is one thread's
  uint64_t done = 0;
  for (;;) {
    const Work* work;
    int64_t items;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && round_ == done) changed_.wait(mutex_);
      if (stopping_) return;
      done = round_;
      work = work_;
      items = items_;
    }
    std::exception_ptr failure;
    try {
      // Relaxed: which item is all that the counter says.
      for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < items;)
        (*work)(i, worker);
    } catch (...) {
      failure = std::current_exception();
      next_.store(items, std::memory_order_relaxed);
    }
    const MutexLock lock(mutex_);
    if (failure && !failure_) failure_ = failure;
    if (--busy_ == 0) changed_.notify_all();
  }
}

}  // namespace mxnet::io
