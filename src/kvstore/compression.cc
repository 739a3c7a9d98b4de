// SPDX-License-Identifier: Apache-2.0
// Parameters, and the loops between floats and bits.
#include "kvstore/compression.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "op/parallel.h"

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

// One word of codes of `kBits` bits; code(i) for each of the `n` elements that it holds.
template <int kBits, class Code>
uint32_t pack_word(int64_t n, Code&& code) {
  uint32_t word = 0;
  for (int64_t i = 0; i < n; ++i) word |= code(i) << (kBits * i);
  return word;
}

template <int kBits, class Body>
void each_word(int64_t count, Body&& body) {
  constexpr int64_t kPerWord = 32 / kBits;
  const int64_t words = (count + kPerWord - 1) / kPerWord;
  parallel_for(words, kCost * kPerWord, [&](int64_t first, int64_t last) {
    for (int64_t w = first; w < last; ++w)
      body(w, w * kPerWord, std::min(kPerWord, count - w * kPerWord));
  });
}

constexpr uint32_t kZero = 0, kMinus = 2, kPlus = 3;  // codes of two bits

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
  const float limit = threshold;
  if (type == CompressionType::kOneBit) {
    each_word<1>(count, [&](int64_t word, int64_t first, int64_t n) {
      packed[word] = pack_word<1>(n, [&](int64_t i) {
        float& rest = residual[first + i];
        rest += gradient[first + i];
        const bool above = rest > limit;
        rest += above ? -1.0f : 1.0f;
        return static_cast<uint32_t>(above);
      });
    });
  } else {
    each_word<2>(count, [&](int64_t word, int64_t first, int64_t n) {
      packed[word] = pack_word<2>(n, [&](int64_t i) {
        float& rest = residual[first + i];
        rest += gradient[first + i];
        if (rest >= limit) {
          rest -= limit;
          return kPlus;
        }
        if (rest <= -limit) {
          rest += limit;
          return kMinus;
        }
        return kZero;
      });
    });
  }
}

void Compression::unpack(const uint32_t* packed, float* values, int64_t count) const {
  if (type == CompressionType::kOneBit) {
    each_word<1>(count, [&](int64_t word, int64_t first, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        values[first + i] = (packed[word] >> i & 1u) != 0 ? 1.0f : -1.0f;
    });
  } else {
    const float by_code[] = {0, 0, -threshold, threshold};
    each_word<2>(count, [&](int64_t word, int64_t first, int64_t n) {
      for (int64_t i = 0; i < n; ++i) values[first + i] = by_code[packed[word] >> (2 * i) & 3u];
    });
  }
}

}  // namespace mxnet::kvstore
