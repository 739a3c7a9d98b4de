// SPDX-License-Identifier: Apache-2.0
// The thread that reads ahead. It starts an epoch when the caller asks for it, not before: what a
// source does between epochs happens once for each.
#include "io/data_iter.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/worker_thread.h"

namespace mxnet::io {

DataIter::DataIter(std::unique_ptr<BatchSource> source, std::size_t ahead)
    : source_(std::move(source)),
      ahead_(std::max<std::size_t>(ahead, 1)),
      owner_(::getpid()),
      thread_([this] { produce(); }) {}

DataIter::~DataIter() {
  if (::getpid() != owner_) {
    // The threads never were in this process: nothing to join, nothing that may be destroyed.
    thread_.detach();
    static_cast<void>(source_.release());
    return;
  }
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void DataIter::check_process() const {
  if (::getpid() == owner_) return;
  throw Error(ErrorCode::kValue, "DataIter",
              "given an iterator made before a fork, expected one made in this process");
}

void DataIter::before_first() {
  check_process();
  const MutexLock lock(mutex_);
  ++wanted_epoch_;
  after_end_ = ended_;
  ready_.clear();
  ended_ = false;
  changed_.notify_all();
}

bool DataIter::next(Batch* batch) {
  check_process();
  if (ended_) return false;
  const MutexLock lock(mutex_);
  while (ready_.empty()) changed_.wait(mutex_);
  Item item = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  ended_ = item.end || item.failure;
  if (item.failure) std::rethrow_exception(item.failure);
  if (!item.end) *batch = std::move(item.batch);
  return !item.end;
}

void DataIter::produce() {
  prepare_worker_thread();
  uint64_t epoch = 0;
  bool at_end = false;
  for (;;) {
    bool restart = false, after_end = false;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && wanted_epoch_ == epoch && (at_end || ready_.size() >= ahead_))
        changed_.wait(mutex_);
      if (stopping_) return;
      restart = wanted_epoch_ != epoch;
      epoch = wanted_epoch_;
      after_end = after_end_;
    }
    Item item;
    try {
      if (restart) source_->start_epoch(after_end);
      item.end = !source_->next(&item.batch);
    } catch (...) {
      item.failure = std::current_exception();
    }
    at_end = item.end || item.failure;
    const MutexLock lock(mutex_);
    if (wanted_epoch_ == epoch) {  // else nobody waits for it any more
      ready_.push_back(std::move(item));
      changed_.notify_all();
    }
  }
}

}  // namespace mxnet::io
