// SPDX-License-Identifier: Apache-2.0
// The thread that reads ahead. It starts an epoch when the caller asks for it, not before: what a
// source does between epochs happens once for each.
#include "io/data_iter.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/process_id.h"
#include "base/worker_thread.h"
#include "engine/interrupt.h"

namespace mxnet::io {

DataIter::DataIter(std::unique_ptr<BatchSource> source, std::size_t ahead)
    : ahead_(std::clamp<std::size_t>(ahead, 1, kMostAhead)), owner_(process_id()) {
  shared_->source = std::move(source);
  {
    const MutexLock lock(shared_->mutex);
    shared_->ready.reserve(ahead_);
  }
  thread_ = std::thread([this] { produce(); });
}

DataIter::~DataIter() {
  if (process_id() != owner_) {
    thread_.detach();  // it never was in this process
    static_cast<void>(shared_.release());
    return;
  }
  {
    const MutexLock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->changed.notify_all();
  }
  thread_.join();
}

void DataIter::check_process() const {
  if (process_id() == owner_) return;
  throw Error(ErrorCode::kValue, "DataIter",
              "given an iterator made before a fork, expected one made in this process");
}

void DataIter::before_first() {
  check_process();
  Shared& shared = *shared_;
  const MutexLock lock(shared.mutex);
  ++shared.wanted_epoch;
  shared.after_end = ended_;
  shared.ready.clear();
  ended_ = false;
  shared.changed.notify_all();
}

bool DataIter::next(Batch* batch) {
  check_process();
  if (ended_) return false;
  const engine::InterruptCheck leave = engine::interrupt_check();
  Item item;
  while (!take(&item))
    if (leave != nullptr && leave() != 0) engine::throw_interrupted();
  ended_ = item.end || item.failure;
  if (item.failure) std::rethrow_exception(item.failure);
  if (!item.end) *batch = std::move(item.batch);
  return !item.end;
}

bool DataIter::take(Item* item) {
  Shared& shared = *shared_;
  const MutexLock lock(shared.mutex);
  const auto deadline = std::chrono::steady_clock::now() + engine::kInterruptSlice;
  while (shared.ready.empty())
    if (!shared.changed.wait_until(shared.mutex, deadline)) return false;
  *item = std::move(shared.ready.front());
  shared.ready.erase(shared.ready.begin());
  shared.changed.notify_all();
  return true;
}

void DataIter::produce() {
  prepare_worker_thread();
  Shared& shared = *shared_;
  uint64_t epoch = 0;
  bool at_end = false;
  for (;;) {
    bool restart = false, after_end = false;
    {
      const MutexLock lock(shared.mutex);
      while (!shared.stopping && shared.wanted_epoch == epoch &&
             (at_end || shared.ready.size() >= ahead_))
        shared.changed.wait(shared.mutex);
      if (shared.stopping) return;
      restart = shared.wanted_epoch != epoch;
      epoch = shared.wanted_epoch;
      after_end = shared.after_end;
    }
    Item item;
    try {
      if (restart) shared.source->start_epoch(after_end);
      item.end = !shared.source->next(&item.batch);
    } catch (...) {
      item.failure = std::current_exception();
    }
    at_end = item.end || item.failure;
    const MutexLock lock(shared.mutex);
    if (shared.wanted_epoch == epoch) {  // else nobody waits for it any more
      shared.ready.push_back(std::move(item));
      shared.changed.notify_all();
    }
  }
}

}  // namespace mxnet::io
