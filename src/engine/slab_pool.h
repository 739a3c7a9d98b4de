// SPDX-License-Identifier: Apache-2.0
// Objects that are made once, in slabs, and then go round: a push takes its records from here and
// allocates nothing. A thread takes from and gives to its own short list; whole batches move
// between threads through the depot, so that a pusher that only takes and a worker that only gives
// meet once in kBatch objects.
#pragma once
#include <cstdint>
#include <memory>

#include "base/leaked.h"
#include "base/lock.h"

namespace mxnet::engine {

// Base of what a pool holds. `pool_next` is free for the user's own lists while the object is out.
template <class T>
struct Pooled {
  T* pool_next = nullptr;
  T* pool_next_batch = nullptr;  // of the first of a batch, in the depot
  // Likewise: walking the batch to count it would touch every object, cold.
  uint32_t pool_batch_size = 0;
};

// Thread-safe. Objects stay constructed while they lie in the pool: the user resets what must not
// linger. Memory is kept for the life of the process, bounded by the most objects that were ever
// out at once plus two batches a thread.
template <class T, uint32_t kBatch>
class SlabPool {
 public:
  static T* take() {
    Cache& cache = t_cache;
    if (cache.head == nullptr) refill(cache);
    T* object = cache.head;
    cache.head = object->pool_next;
    if constexpr (requires { object->prefetch(); }) {  // another thread has had it last
      if (cache.head != nullptr) cache.head->prefetch();
    }
    --cache.count;
    return object;
  }

  static void give(T* object) noexcept {
    Cache& cache = t_cache;
    object->pool_next = cache.head;
    cache.head = object;
    if (++cache.count >= 2 * kBatch || cache.retired) shrink(cache, kBatch);
  }

  // Around fork: a child must not inherit the depot's lock in another thread's hand.
  static void lock_depot() MX_NO_THREAD_SAFETY_ANALYSIS { depot()->mutex.lock(); }
  static void unlock_depot() MX_NO_THREAD_SAFETY_ANALYSIS { depot()->mutex.unlock(); }

 private:
  struct Slab {
    std::unique_ptr<Slab> next;
    T objects[kBatch];
  };
  struct Depot {
    Mutex mutex;
    T* batches MX_GUARDED_BY(mutex) = nullptr;
    std::unique_ptr<Slab> slabs MX_GUARDED_BY(mutex);
  };
  // Trivial, so that it can be used before the first and after the last thread-local constructor
  // and destructor.
  struct Cache {
    T* head;
    uint32_t count;
    bool known;    // Retire is registered for this thread
    bool retired;  // the thread is ending: keep nothing
  };
  struct Retire {
    ~Retire() {
      t_cache.retired = true;
      if (t_cache.count != 0) shrink(t_cache, 0);
    }
  };

  static Leaked<Depot>& depot() {
    static Leaked<Depot> instance;
    return instance;
  }

  __attribute__((noinline)) static void refill(Cache& cache) {
    if (!cache.known) {
      cache.known = true;
      static thread_local Retire retire;
      static_cast<void>(retire);
    }
    {
      Depot& d = *depot();
      MutexLock lock(d.mutex);
      if (d.batches != nullptr) {
        cache.head = d.batches;
        d.batches = cache.head->pool_next_batch;
        cache.count = cache.head->pool_batch_size;
        return;
      }
    }
    auto slab = std::make_unique<Slab>();  // outside the lock: it may be slow
    for (uint32_t i = 0; i + 1 < kBatch; ++i) slab->objects[i].pool_next = &slab->objects[i + 1];
    slab->objects[kBatch - 1].pool_next = nullptr;
    cache.head = slab->objects;
    cache.count = kBatch;
    Depot& d = *depot();
    MutexLock lock(d.mutex);
    slab->next = std::move(d.slabs);
    d.slabs = std::move(slab);
  }

  // Moves all but the `keep` most recently given (they are warm) to the depot, as one batch.
  __attribute__((noinline)) static void shrink(Cache& cache, uint32_t keep) noexcept {
    if (cache.retired) keep = 0;
    T** link = &cache.head;
    for (uint32_t i = 0; i < keep; ++i) link = &(*link)->pool_next;
    T* batch = *link;
    *link = nullptr;
    batch->pool_batch_size = cache.count - keep;
    cache.count = keep;
    Depot& d = *depot();
    MutexLock lock(d.mutex);
    batch->pool_next_batch = d.batches;
    d.batches = batch;
  }

  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local Cache t_cache{
      nullptr, 0, false, false};
};

}  // namespace mxnet::engine
