// SPDX-License-Identifier: Apache-2.0
// A list by last use, and where in it the entries of a hash are.
#include "op/onednn/lru_cache.h"

#include <algorithm>

#include "base/config.h"

namespace mxnet::onednn {

const LruEntries::Value* LruEntries::find(const Key& key) {
  const auto [first, last] = index_.equal_range(key.hash());
  for (auto at = first; at != last; ++at) {
    if (!std::ranges::equal(at->second->words, key.words())) continue;
    recent_.splice(recent_.begin(), recent_, at->second);
    return &at->second->value;
  }
  return nullptr;
}

const LruEntries::Value& LruEntries::add(const Key& key, Value value, int64_t most) {
  const std::size_t hash = key.hash();
  recent_.push_front({{key.words().begin(), key.words().end()}, hash, std::move(value)});
  index_.emplace(hash, recent_.begin());
  shrink(most);
  return recent_.front().value;
}

// But never the one that is about to be used.
void LruEntries::shrink(int64_t most) {
  int64_t limit = config().onednn.cache_num;
  if (most >= 0) limit = limit < 0 ? most : std::min(limit, most);
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

}  // namespace mxnet::onednn
