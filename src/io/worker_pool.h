// SPDX-License-Identifier: Apache-2.0
// Threads that share the items of a batch: decoding is too coarse and too uneven for the loops of
// operators.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "base/lock.h"

namespace mxnet::io {

// run() is called by one thread at a time, in the process that made the pool.
class WorkerPool {
 public:
  // item, and the number of the thread that has it: 0 to threads - 1.
  using Work = std::function<void(int64_t item, int worker)>;

  // Throws std::system_error where the system has no more threads.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return static_cast<int>(threads_.size()); }
  // Returns when all items are done. Rethrows what one of them threw; others may not have run then.
  void run(int64_t items, const Work& work);

 private:
  void work_for_ever(int worker);
  void stop();

  Mutex mutex_;
  CondVar changed_;
  const Work* work_ MX_GUARDED_BY(mutex_) = nullptr;
  int64_t items_ MX_GUARDED_BY(mutex_) = 0;
  uint64_t round_ MX_GUARDED_BY(mutex_) = 0;  // counts the calls of run()
  int busy_ MX_GUARDED_BY(mutex_) = 0;
  bool stopping_ MX_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ MX_GUARDED_BY(mutex_);
  std::atomic<int64_t> next_{0};
  std::vector<std::thread> threads_;
};

}  // namespace mxnet::io
