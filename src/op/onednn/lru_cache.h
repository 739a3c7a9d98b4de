// SPDX-License-Identifier: Apache-2.0
// Compiled primitives by key, the least recently used first to go.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/config.h"
#include "op/onednn/key.h"
#include "op/onednn/thread_caches.h"

namespace mxnet::onednn {

// Not thread-safe: each kernel keeps one per thread (thread_cache() below), because a primitive's
// memory objects are rebound at each run. oneDNN itself shares the generated code between equal
// primitives of all threads.
//
// Invariants: recent_ holds every entry once, the latest use first; index_ maps the hash of each to
// its place. A null value says that nothing can be compiled for the key.
template <class T>
class LruCache {
 public:
  // The value of `key`; make() gives a unique_ptr<T> where there is none yet. A hit allocates
  // nothing. What is returned stays until the next get().
  template <class Make>
  T* get(const Key& key, const Make& make) {
    const std::size_t hash = key.hash();
    const auto [first, last] = index_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      if (!std::ranges::equal(at->second->words, key.words())) continue;
      recent_.splice(recent_.begin(), recent_, at->second);
      return at->second->value.get();
    }
    std::unique_ptr<T> value = make();
    recent_.push_front({{key.words().begin(), key.words().end()}, hash, std::move(value)});
    index_.emplace(hash, recent_.begin());
    shrink();
    return recent_.front().value.get();
  }

  std::size_t size() const { return recent_.size(); }

 private:
  struct Entry {
    std::vector<int64_t> words;
    std::size_t hash;
    std::unique_ptr<T> value;
  };
  using Place = typename std::list<Entry>::iterator;

  // To MXNET_ONEDNN_CACHE_NUM entries, but never the one that is about to be used.
  void shrink() {
    const int64_t limit = config().onednn.cache_num;
    if (limit < 0) return;
    while (recent_.size() > static_cast<std::size_t>(std::max<int64_t>(limit, 1))) {
      const Place last = std::prev(recent_.end());
      const auto [first, end] = index_.equal_range(last->hash);
      for (auto at = first; at != end; ++at) {
        if (at->second != last) continue;
        index_.erase(at);
        break;
      }
      recent_.pop_back();
    }
  }

  std::list<Entry> recent_;
  std::unordered_multimap<std::size_t, Place> index_;
};

// The calling thread's own cache of T. All its caches hang on one thread-local pointer
// (thread_caches.h): a library that is loaded late has very little room for more (static TLS).
template <class T>
LruCache<T>& thread_cache() {
  static const std::size_t slot = new_cache_slot();
  std::shared_ptr<void>& cache = cache_in_slot(slot);
  if (!cache) cache = std::make_shared<LruCache<T>>();
  return *static_cast<LruCache<T>*>(cache.get());
}

}  // namespace mxnet::onednn
