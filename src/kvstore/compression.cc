// SPDX-License-Identifier: Apache-2.0
// Parameters, and the loops between floats and bits.
#include "kvstore/compression.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "op/loops/gradient_bits.h"
#include "op/run/parallel.h"

namespace mxnet::kvstore {
namespace {

constexpr double kCost = 4;  // elementary operations an element, for parallel_for

CompressionType type_of(std::string_view text) {
  if (text == "none") return CompressionType::kNone;
  if (text == "1bit") return CompressionType::kOneBit;
  if (text == "2bit") return CompressionType::kTwoBit;
  throw Error(
      ErrorCode::kValue, "kvstore",
      fmt::format("gradient compression: given type '{}', expected 1bit, 2bit or none", text));
}

float threshold_of(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("gradient compression: given threshold '{}', expected a number", text));
  }
  return value;
}

// body(word, its first element, how many it has) with the rule of so many bits.
template <int kBits, class Body>
void each_word(float threshold, int64_t count, Body&& body) {
  const GradientBits<kBits> bits{threshold};
  constexpr int64_t kPerWord = bits.kPerWord;
  const int64_t words = (count + kPerWord - 1) / kPerWord;
  parallel_for(words, kCost * kPerWord, [&](int64_t first, int64_t last) {
    for (int64_t w = first; w < last; ++w)
      body(bits, w, w * kPerWord, std::min(kPerWord, count - w * kPerWord));
  });
}

}  // namespace

Compression Compression::parse(
    std::span<const std::pair<std::string_view, std::string_view>> parameters) {
  Compression result;
  bool typed = false;
  for (const auto& [name, value] : parameters) {
    if (name == "type") {
      result.type = type_of(value);
      typed = true;
    } else if (name == "threshold") {
      result.threshold = threshold_of(value);
    } else {
      throw Error(ErrorCode::kValue, "kvstore",
                  fmt::format("gradient compression: given parameter '{}', expected type or "
                              "threshold",
                              name));
    }
  }
  if (!typed)
    throw Error(ErrorCode::kValue, "kvstore",
                "gradient compression: given no type, expected 1bit, 2bit or none");
  if (result.type == CompressionType::kTwoBit && result.threshold <= 0) {
    throw Error(ErrorCode::kValue, "kvstore",
                fmt::format("gradient compression: given threshold {}, expected one above 0",
                            result.threshold));
  }
  return result;
}

void Compression::pack(const float* gradient, float* residual, uint32_t* packed,
                       int64_t count) const {
  const auto pack_word = [&](const auto& bits, int64_t word, int64_t first, int64_t n) {
    packed[word] = bits.pack(gradient + first, residual + first, n);
  };
  if (type == CompressionType::kOneBit) {
    each_word<1>(threshold, count, pack_word);
  } else {
    each_word<2>(threshold, count, pack_word);
  }
}

void Compression::unpack(const uint32_t* packed, float* values, int64_t count) const {
  const auto unpack_word = [&](const auto& bits, int64_t word, int64_t first, int64_t n) {
    for (int64_t i = 0; i < n; ++i) values[first + i] = bits.unpack(packed[word], i);
  };
  if (type == CompressionType::kOneBit) {
    each_word<1>(threshold, count, unpack_word);
  } else {
    each_word<2>(threshold, count, unpack_word);
  }
}

}  // namespace mxnet::kvstore
