// SPDX-License-Identifier: Apache-2.0
// What callers hold: batches of a source, read ahead on a thread of its own.
#pragma once
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "base/lock.h"
#include "io/batch_source.h"

namespace mxnet::io {

// Calls come from one thread at a time. What the source throws comes out of next(), after the
// batches before it, and ends the epoch; before_first() tries again. A process that was forked
// cannot use its parent's iterator: there is no thread; next() says so.
class DataIter {
 public:
  // At most `ahead` batches wait (at least one, at most kMostAhead).
  DataIter(std::unique_ptr<BatchSource> source, std::size_t ahead);
  ~DataIter();
  DataIter(const DataIter&) = delete;
  DataIter& operator=(const DataIter&) = delete;

  // Starts the next epoch, or this one anew if its end has not been given out.
  void before_first();
  // False at the end of the epoch, and then again until before_first(). Where the program ends the
  // wait, the next call waits for the same batch.
  bool next(Batch* batch);

 private:
  static constexpr std::size_t kMostAhead = 1024;  // more would only fill memory
  struct Item {
    Batch batch;
    bool end = false;
    std::exception_ptr failure;
  };
  void produce();
  // False where there is nothing to take for kInterruptSlice.
  bool take(Item* item);
  void check_process() const;

  // What the caller and the thread share. A forked process has no thread to end first, and
  // destroying what a thread waits on is not allowed: there it is leaked.
  struct Shared {
    std::unique_ptr<BatchSource> source;  // the thread's alone
    Mutex mutex;
    CondVar changed;
    // Has its memory from the start: the thread has nobody to tell that there is none.
    std::vector<Item> ready MX_GUARDED_BY(mutex);
    // An epoch that the caller has not seen the end of is given up when this is ahead of what the
    // thread has begun.
    uint64_t wanted_epoch MX_GUARDED_BY(mutex) = 0;
    bool after_end MX_GUARDED_BY(mutex) = false;  // whether the one before was seen whole
    bool stopping MX_GUARDED_BY(mutex) = false;
  };
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
  const std::size_t ahead_;
  const int owner_;     // process
  bool ended_ = false;  // the caller's: the end of the epoch has been given out
  std::thread thread_;
};

}  // namespace mxnet::io
