// SPDX-License-Identifier: Apache-2.0
// Packed weights that outlive a call, for MXNET_RNN_USE_WEIGHT_CACHE. They belong to the place
// where the weights are: nobody looks whether the numbers there have changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace mxnet::rnn {

// What tells packed weights apart. Sums: those of Strassen's method.
struct WeightKey {
  const void* weights;
  int64_t input_size, hidden, out, gates;
  std::size_t element_size;
  bool sums = false;
  bool operator==(const WeightKey&) const = default;
};

// The memory kept for `key`; at its first use `bytes` of it, aligned to 64, that `pack` fills.
// Thread-safe; the memory stays valid as long as the result is held, even when it is given up for
// others.
std::shared_ptr<const std::byte> kept_weights(const WeightKey& key, std::size_t bytes,
                                              const std::function<void(std::byte*)>& pack);

}  // namespace mxnet::rnn
