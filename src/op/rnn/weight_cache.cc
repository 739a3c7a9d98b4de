// SPDX-License-Identifier: Apache-2.0
// Packed weights in a short list, the last used first.
#include "op/rnn/weight_cache.h"

#include "base/leaked.h"
#include "base/recently_used.h"
#include "op/packed_floats.h"

namespace mxnet::rnn {
namespace {

// Layers times directions of a few networks.
constexpr std::size_t kEntries = 64;

using Cache = RecentlyUsed<WeightKey, std::shared_ptr<const std::byte>>;

Cache& cache() {
  static Leaked<Cache> instance(kEntries);
  return *instance;
}

}  // namespace

std::shared_ptr<const std::byte> kept_weights(const WeightKey& key, std::size_t bytes,
                                              const std::function<void(std::byte*)>& pack) {
  if (auto found = cache().find(key)) return found;
  // On huge pages, where they are large: they are read from end to end at each step.
  const auto memory = std::make_shared<const PackedFloats>(bytes);
  auto* place = static_cast<std::byte*>(memory->data());
  std::shared_ptr<const std::byte> packed(memory, place);
  pack(place);  // two that come at once do it twice
  cache().add(key, packed);
  return packed;
}

}  // namespace mxnet::rnn
