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

// Thread-safe. Of a version of the values at most kMost things by key; with the next version they
// end.
class MadeOfValues {
 public:
  using Key = std::array<int64_t, 8>;
  using Made = std::shared_ptr<const void>;

  // Layers, directions and kinds of a deep network; what asks for more uses its views by turns.
  static constexpr std::size_t kMost = 128;

  // Null where there is none. `again` then becomes whether this was asked for before: what is made
  // of values that are read only once is not worth memory of its own.
  Made find(uint64_t version, const Key& key, bool* again);
  // Two threads that find none may both add one: the later serves from then on.
  void add(uint64_t version, const Key& key, Made made);
  // Versions count the writes no longer: what is here ends, and nothing is kept from here on.
  void end();

 private:
  std::vector<std::pair<Key, Made>>::iterator place_of(const Key& key) MX_REQUIRES(mutex_);

  Mutex mutex_;
  bool ended_ MX_GUARDED_BY(mutex_) = false;
  uint64_t version_ MX_GUARDED_BY(mutex_) = 0;
  std::vector<std::pair<Key, Made>> made_ MX_GUARDED_BY(mutex_);  // null: asked for once
};

}  // namespace mxnet
