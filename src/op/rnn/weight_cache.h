// SPDX-License-Identifier: Apache-2.0
// Packed weights that outlive a call: beside the parameters that they were made of, until these
// change; or, for MXNET_RNN_USE_WEIGHT_CACHE, until they end, and then nobody looks whether the
// numbers there have changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "ndarray/made_of_values.h"

namespace mxnet {
class KernelContext;
}

namespace mxnet::rnn {

// The parameters of a call. Empty: nothing of them is kept.
struct WeightHome {
  const void* at = nullptr;  // in whatever type
  // Tells those of layers apart.
  uintptr_t place(int64_t offset) const {
    return reinterpret_cast<uintptr_t>(at) + static_cast<uintptr_t>(offset);
  }
  MadeOfValues* made = nullptr;
  uint64_t version = 0;
};

// Sums: those of Strassen's method; largest: of the weights of the input and of the state.
enum class WeightForm : uint8_t { kPacked, kSums, kLargest, kDigits, kTiles };

// Where what is made of input `input` is kept; empty in training.
WeightHome home_of_weights(const KernelContext& context, int input);

// What tells packed weights apart.
struct WeightKey {
  uintptr_t weights;
  int64_t input_size, hidden, out, gates;
  std::size_t element_size;
  WeightForm form = WeightForm::kPacked;
  bool operator==(const WeightKey&) const = default;
};

// The memory kept for `key`, aligned to 64; at its first use `bytes` of it, which `pack` fills.
// Null where none is kept: until a second call asks for the same. Thread-safe; the memory stays
// valid as long as the result is held, even when it is given up for others.
std::shared_ptr<const std::byte> kept_weights(const WeightHome& home, const WeightKey& key,
                                              std::size_t bytes,
                                              const std::function<void(std::byte*)>& pack);

}  // namespace mxnet::rnn
