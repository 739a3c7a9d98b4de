// SPDX-License-Identifier: Apache-2.0
// Packed weights beside their arrays.
#include "op/rnn/weight_cache.h"

#include "base/config.h"
#include "op/kernel.h"
#include "op/products/packed_floats.h"

namespace mxnet::rnn {
namespace {

using Kept = std::shared_ptr<const std::byte>;

// No write gives an array this one.
constexpr uint64_t kAnyVersion = UINT64_MAX;

Kept packed_by(const std::function<void(std::byte*)>& pack, std::size_t bytes) {
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

WeightHome home_of_weights(const KernelContext& context, int input) {
  WeightHome home;
  if (context.training()) return home;
  home.at = context.in(input).data;
  home.made = context.made_of(input, &home.version);
  if (config().onednn.rnn_use_weight_cache) home.version = kAnyVersion;
  return home;
}

Kept kept_weights(const WeightHome& home, const WeightKey& key, std::size_t bytes,
                  const std::function<void(std::byte*)>& pack) {
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
