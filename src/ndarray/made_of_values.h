// SPDX-License-Identifier: Apache-2.0
// What kernels make of an array's values (weights in the order in which products want them) and
// keep until these change. It belongs to the array's memory and ends with it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/lock.h"

namespace mxnet {

// Thread-safe. Of a version of the values a few things by key; with the next version they end.
class MadeOfValues {
 public:
  using Key = std::array<int64_t, 8>;
  using Made = std::shared_ptr<const void>;

  // Null where there is none. `again` then becomes whether this was asked for before: what is made
  // of values that are read only once is not worth memory of its own.
  Made find(uint64_t version, const Key& key, bool* again);
  // Two threads that find none may both add one: the later serves from then on.
  void add(uint64_t version, const Key& key, Made made);

 private:
  std::vector<std::pair<Key, Made>>::iterator place_of(const Key& key) MX_REQUIRES(mutex_);

  Mutex mutex_;
  uint64_t version_ MX_GUARDED_BY(mutex_) = 0;
  std::vector<std::pair<Key, Made>> made_ MX_GUARDED_BY(mutex_);  // null: asked for once
};

}  // namespace mxnet
