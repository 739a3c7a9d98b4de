// SPDX-License-Identifier: Apache-2.0
// Packed weights in a short list, the last used first.
#include "op/rnn/weight_cache.h"

#include "base/config.h"
#include "base/leaked.h"
#include "base/recently_used.h"
#include "op/products/packed_floats.h"

namespace mxnet::rnn {
namespace {

// Layers times directions of a few networks.
constexpr std::size_t kEntries = 64;

using Kept = std::shared_ptr<const std::byte>;
using Pack = std::function<void(std::byte*)>;
using Cache = RecentlyUsed<WeightKey, Kept>;

Cache& cache() {
  static Leaked<Cache> instance(kEntries);
  return *instance;
}

Kept packed_by(const Pack& pack, std::size_t bytes) {
  // On huge pages, where they are large: they are read from end to end at each step.
  const auto memory = std::make_shared<const PackedFloats>(bytes);
  auto* place = static_cast<std::byte*>(memory->data());
  pack(place);  // two that come at once do it twice
  return {memory, place};
}

MadeOfValues::Key numbers_of(const WeightKey& key) {
  return {static_cast<int64_t>(key.weights),
          key.input_size,
          key.hidden,
          key.out,
          key.gates,
          static_cast<int64_t>(key.element_size),
          static_cast<int64_t>(key.form),
          0};
}

}  // namespace

Kept kept_weights(const WeightHome& home, const WeightKey& key, std::size_t bytes,
                  const Pack& pack) {
  if (home.at == nullptr || !config().onednn.rnn_use_weight_cache)
    return kept_of_values(home, key, bytes, pack);
  if (auto found = cache().find(key)) return found;
  Kept packed = packed_by(pack, bytes);
  cache().add(key, packed);
  return packed;
}

Kept kept_of_values(const WeightHome& home, const WeightKey& key, std::size_t bytes,
                    const Pack& pack) {
  if (home.made == nullptr) return nullptr;
  const MadeOfValues::Key numbers = numbers_of(key);
  bool again = false;
  if (auto found = home.made->find(home.version, numbers, &again))
    return std::static_pointer_cast<const std::byte>(found);
  if (!again) return nullptr;
  Kept packed = packed_by(pack, bytes);
  home.made->add(home.version, numbers, packed);
  return packed;
}

}  // namespace mxnet::rnn
