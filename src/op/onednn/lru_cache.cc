// SPDX-License-Identifier: Apache-2.0
// A list by last use, and where in it the entries of a hash are.
#include "op/onednn/lru_cache.h"

#include <algorithm>

#include "base/config.h"
#include "op/prepared_kernel.h"

namespace mxnet::onednn {

const LruEntries::Value* LruEntries::find(const Key& key) {
  const auto [first, last] = index_.equal_range(key.hash());
  for (auto at = first; at != last; ++at) {
    if (!std::ranges::equal(at->second->words, key.words())) continue;
    recent_.splice(recent_.begin(), recent_, at->second);
    at->second->asked = true;
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

void LruEntries::drop(Place place) {
  const auto [first, end] = index_.equal_range(place->hash);
  for (auto at = first; at != end; ++at) {
    if (at->second != place) continue;
    index_.erase(at);
    break;
  }
  recent_.erase(place);
}

void LruEntries::forget_unasked() {
  if (!of_plans_ || std::ranges::none_of(recent_, &Entry::asked)) return;
  for (auto at = recent_.begin(); at != recent_.end();) {
    const auto next = std::next(at);
    if (!std::exchange(at->asked, false)) drop(at);
    at = next;
  }
}

// But never the one that is about to be used.
void LruEntries::shrink(int64_t most) {
  int64_t limit = config().onednn.cache_num;
  if (most >= 0) limit = limit < 0 ? most : std::min(limit, most);
  if (limit < 0) return;
  while (recent_.size() > static_cast<std::size_t>(std::max<int64_t>(limit, 1)))
    drop(std::prev(recent_.end()));
}

}  // namespace mxnet::onednn

namespace mxnet {

void forget_unasked_kernels() {
  for (const auto& cache : onednn::thread_caches())
    if (cache != nullptr) cache->forget_unasked();
}

}  // namespace mxnet
