// SPDX-License-Identifier: Apache-2.0
// Compiled primitives by key, the least recently used first to go.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "op/onednn/key.h"
#include "op/onednn/thread_caches.h"

namespace mxnet::onednn {

// Values of whatever type; compiled once for all of them.
//
// Invariants: recent_ holds every entry once, the latest use first; index_ maps the hash of each to
// its place. A null value says that nothing can be compiled for the key.
class LruEntries {
 public:
  std::size_t size() const { return recent_.size(); }
  // Of what plans are made of, what nobody has asked for since the last call; nothing, if nothing
  // was asked for.
  void forget_unasked();

 protected:
  explicit LruEntries(bool of_plans) : of_plans_(of_plans) {}
  using Value = std::unique_ptr<void, void (*)(void*)>;

  // Null where there is none yet. A hit allocates nothing.
  const Value* find(const Key& key);
  // Others go then, to MXNET_ONEDNN_CACHE_NUM entries, and to `most` where that is not less than 0.
  const Value& add(const Key& key, Value value, int64_t most);

 private:
  struct Entry {
    std::vector<int64_t> words;
    std::size_t hash;
    Value value;
    bool asked = true;  // since the last forget_unasked()
  };
  using Place = std::list<Entry>::iterator;
  void drop(Place place);
  void shrink(int64_t most);

  const bool of_plans_;
  std::list<Entry> recent_;
  std::unordered_multimap<std::size_t, Place> index_;
};

// Not thread-safe: each kernel keeps one per thread (thread_cache() below), because a primitive's
// memory objects are rebound at each run. oneDNN itself shares the generated code between equal
// primitives of all threads.
template <class T>
class LruCache : public LruEntries {
 public:
  LruCache() : LruEntries(most() >= 0) {}
  // The value of `key`; make() gives a unique_ptr<T> where there is none yet. What is returned
  // stays until the next get(). A T that plans are made of has a bound of its own, T::kMost.
  template <class Make>
  T* get(const Key& key, const Make& make) {
    if (const Value* found = find(key)) return static_cast<T*>(found->get());
    std::unique_ptr<T> made = make();
    Value value(made.release(), [](void* of_t) { delete static_cast<T*>(of_t); });
    return static_cast<T*>(add(key, std::move(value), most()).get());
  }

 private:
  static constexpr int64_t most() {
    if constexpr (requires { T::kMost; }) {
      return T::kMost;
    } else {
      return -1;
    }
  }
};

// The calling thread's own cache of T. All its caches hang on one thread-local pointer
// (thread_caches.h): a library that is loaded late has very little room for more (static TLS).
template <class T>
LruCache<T>& thread_cache() {
  static const std::size_t slot = new_cache_slot();
  std::shared_ptr<LruEntries>& cache = cache_in_slot(slot);
  if (!cache) cache = std::make_shared<LruCache<T>>();
  return *static_cast<LruCache<T>*>(cache.get());
}

}  // namespace mxnet::onednn
