// SPDX-License-Identifier: Apache-2.0
// Gradients in one or two bits an element. What is lost is kept and added to the next gradient.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace mxnet::kvstore {

enum class CompressionType : uint8_t {
  kNone,
  kOneBit,  // above the threshold 1, else -1
  kTwoBit,  // at least the threshold: the threshold; at most minus that: minus that; else 0
};

struct Compression {
  CompressionType type = CompressionType::kNone;
  float threshold = 0.5f;

  bool operator==(const Compression&) const = default;

  // Parameters type (none, 1bit, 2bit; needed) and threshold. Throws Error(kValue).
  static Compression parse(
      std::span<const std::pair<std::string_view, std::string_view>> parameters);

  // Words of 32 bits that `count` elements become.
  int64_t words(int64_t count) const {
    const int64_t per_word = type == CompressionType::kOneBit ? 32 : 16;
    return (count + per_word - 1) / per_word;
  }
  // residual += gradient; what of it `packed` says is taken off again.
  void pack(const float* gradient, float* residual, uint32_t* packed, int64_t count) const;
  void unpack(const uint32_t* packed, float* values, int64_t count) const;
};

}  // namespace mxnet::kvstore
