// SPDX-License-Identifier: Apache-2.0
// Gradients in one or two bits an element, as stores send them: one text for the host
// (kvstore/compression.cc) and for kernels.
#pragma once
#include <cstdint>

#include "base/host_device.h"

namespace mxnet {

// One bit: 1 above the threshold, else -1. Two bits: the threshold where an element has reached it,
// minus that where it has reached minus that, else 0.
template <int kBits>
struct GradientBits {
  static constexpr int64_t kPerWord = 32 / kBits;
  float threshold;

  // A word of `n` elements: rest += gradient; what of it the word says is taken off again.
  MX_HOST_DEVICE uint32_t pack(const float* gradient, float* rest, int64_t n) const {
    uint32_t word = 0;
    for (int64_t i = 0; i < n; ++i) {
      rest[i] += gradient[i];
      const uint32_t code = code_of(rest[i]);
      rest[i] -= value_of(code);
      word |= code << (kBits * i);
    }
    return word;
  }
  // What the word says of its element i.
  MX_HOST_DEVICE float unpack(uint32_t word, int64_t i) const {
    return value_of(word >> (kBits * i) & ((1u << kBits) - 1));
  }

 private:
  static constexpr uint32_t kZero = 0, kMinus = 2, kPlus = 3;  // codes of two bits

  MX_HOST_DEVICE uint32_t code_of(float rest) const {
    if constexpr (kBits == 1) return rest > threshold ? 1 : 0;
    return rest >= threshold ? kPlus : rest <= -threshold ? kMinus : kZero;
  }
  MX_HOST_DEVICE float value_of(uint32_t code) const {
    if constexpr (kBits == 1) return code != 0 ? 1.0f : -1.0f;
    return code == kPlus ? threshold : code == kMinus ? -threshold : 0.0f;
  }
};

// What the plug-in's kernels KVStorePack and KVStoreUnpack are given.
struct GradientBitsParams {
  bool one_bit;
  float threshold;
};

}  // namespace mxnet
