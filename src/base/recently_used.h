// SPDX-License-Identifier: Apache-2.0
// A few values by key, of which those go first that were not used for longest.
#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <utility>

#include "base/lock.h"

namespace mxnet {

// For keys that are few enough to be compared one after the other, and values that are cheap to
// copy and empty by default (a shared_ptr). Thread-safe.
template <class Key, class Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t most) : most_(most) {}

  // An empty value where there is none.
  Value find(const Key& key) {
    const MutexLock lock(mutex_);
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const auto& each) { return each.first == key; });
    if (entry == entries_.end()) return Value();
    entries_.splice(entries_.begin(), entries_, entry);
    return entry->second;
  }

  // Two threads that find none may both add one: the later serves from then on.
  void add(Key key, Value value) {
    std::list<std::pair<Key, Value>> gone;  // declared first: ends without the lock, may take long
    const MutexLock lock(mutex_);
    entries_.emplace_front(std::move(key), std::move(value));
    if (entries_.size() > most_) gone.splice(gone.begin(), entries_, std::prev(entries_.end()));
  }

 private:
  const std::size_t most_;
  Mutex mutex_;
  std::list<std::pair<Key, Value>> entries_ MX_GUARDED_BY(mutex_);
};

}  // namespace mxnet
