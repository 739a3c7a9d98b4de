// SPDX-License-Identifier: Apache-2.0
// See storage_fork.h. A child has only the thread that forked: every lock that another thread might
// hold at that moment is taken before and let go on both sides after, in the lock order: storages,
// their creation, domains, ownership of lanes, lanes, and what is used inside lanes.
#include "storage/storage_fork.h"

#include <pthread.h>

#include <vector>

#include "base/fork_order.h"
#include "base/leaked.h"
#include "storage/segment_registry.h"
#include "storage/storage_impl.h"

namespace mxnet {
namespace {

struct Storages {
  Mutex mutex;
  std::vector<Storage::Impl*> living MX_GUARDED_BY(mutex);
};

Storages& storages() {
  static Leaked<Storages> storages;
  return *storages;
}

void before_fork() MX_NO_THREAD_SAFETY_ANALYSIS {
  storages().mutex.lock();
  for (Storage::Impl* storage : storages().living) storage->lock_for_fork();
  LaneSet::lock_ownership();
  for (Storage::Impl* storage : storages().living) storage->lock_lanes_for_fork();
  SegmentRegistry::get().lock_for_fork();
}

template <class Unlock>
void after_fork(const Unlock& unlock) MX_NO_THREAD_SAFETY_ANALYSIS {
  SegmentRegistry::get().unlock_for_fork();
  for (Storage::Impl* storage : storages().living) unlock(*storage);
  LaneSet::unlock_ownership();
  storages().mutex.unlock();
}

void in_parent() {
  after_fork([](Storage::Impl& storage) { storage.unlock_in_parent(); });
}
void in_child() {
  after_fork([](Storage::Impl& storage) { storage.unlock_in_child(); });
}

// At load, not at first use: a thread may hold a pool's lock while it waits for a device, and an
// engine drains operations that use pools, so our place among the handlers matters.
[[gnu::constructor(kForkOrderStorage)]] void register_handlers() {
  pthread_atfork(before_fork, in_parent, in_child);
}

}  // namespace

void join_forks(Storage::Impl* storage) {
  MutexLock lock(storages().mutex);
  storages().living.push_back(storage);
}

void leave_forks(Storage::Impl* storage) {
  MutexLock lock(storages().mutex);
  std::erase(storages().living, storage);
}

}  // namespace mxnet
