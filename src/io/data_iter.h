// SPDX-License-Identifier: Apache-2.0
// What callers hold: batches of a source, read ahead on a thread of its own.
#pragma once
#include <deque>
#include <exception>
#include <memory>
#include <thread>

#include "base/lock.h"
#include "io/batch_source.h"

namespace mxnet::io {

// Calls come from one thread at a time. What the source throws comes out of next(), after the
// batches before it, and ends the epoch; before_first() tries again. A process that was forked
// cannot use its parent's iterator: there is no thread; next() says so.
class DataIter {
 public:
  // At most `ahead` batches wait (at least one).
  DataIter(std::unique_ptr<BatchSource> source, std::size_t ahead);
  ~DataIter();
  DataIter(const DataIter&) = delete;
  DataIter& operator=(const DataIter&) = delete;

  // Starts the next epoch, or this one anew if its end has not been given out.
  void before_first();
  // False at the end of the epoch, and then again until before_first().
  bool next(Batch* batch);

 private:
  struct Item {
    Batch batch;
    bool end = false;
    std::exception_ptr failure;
  };
  void produce();
  void check_process() const;

  std::unique_ptr<BatchSource> source_;  // the thread's alone
  const std::size_t ahead_;
  const int owner_;  // process
  Mutex mutex_;
  CondVar changed_;
  std::deque<Item> ready_ MX_GUARDED_BY(mutex_);
  // An epoch that the caller has not seen the end of is given up when this is ahead of what the
  // thread has begun.
  bool after_end_ MX_GUARDED_BY(mutex_) = false;  // and whether the one before was seen whole
  uint64_t wanted_epoch_ MX_GUARDED_BY(mutex_) = 0;
  bool stopping_ MX_GUARDED_BY(mutex_) = false;
  bool ended_ = false;  // the caller's: the end of the epoch has been given out
  std::thread thread_;
};

}  // namespace mxnet::io
