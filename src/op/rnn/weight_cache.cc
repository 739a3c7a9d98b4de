// SPDX-License-Identifier: Apache-2.0
// A short list under a lock, the last used first.
#include "op/rnn/weight_cache.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <new>
#include <utility>

#include "base/leaked.h"

namespace mxnet::rnn {
namespace {

// Layers times directions of a few networks.
constexpr std::size_t kEntries = 64;

struct Cache {
  std::mutex mutex;
  std::list<std::pair<WeightKey, std::shared_ptr<const std::byte>>> entries;  // under mutex
};

Cache& cache() {
  static Leaked<Cache> instance;
  return *instance;
}

std::shared_ptr<const std::byte> find(const WeightKey& key) {
  auto& [mutex, entries] = cache();
  const std::lock_guard lock(mutex);
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& e) { return e.first == key; });
  if (entry == entries.end()) return nullptr;
  entries.splice(entries.begin(), entries, entry);
  return entry->second;
}

}  // namespace

std::shared_ptr<const std::byte> kept_weights(const WeightKey& key, std::size_t bytes,
                                              const std::function<void(std::byte*)>& pack) {
  if (auto found = find(key)) return found;
  constexpr std::align_val_t kLine{64};
  auto* memory = static_cast<std::byte*>(::operator new(bytes, kLine));
  std::shared_ptr<const std::byte> packed(
      memory, [](const std::byte* p) { ::operator delete(const_cast<std::byte*>(p), kLine); });
  pack(memory);  // not under the lock: two that come at once do it twice
  auto& [mutex, entries] = cache();
  const std::lock_guard lock(mutex);
  entries.emplace_front(key, packed);
  if (entries.size() > kEntries) entries.pop_back();
  return packed;
}

}  // namespace mxnet::rnn
