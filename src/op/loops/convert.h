// SPDX-License-Identifier: Apache-2.0
// Conversion of elements between types, with the meaning that existing programs rely on.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "base/half_bulk.h"
#include "op/loops/number_bulk.h"

namespace mxnet {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

// Floating to integer truncates; what does not fit takes the low bits of the 32-bit (for int64:
// 64-bit) result of the processor's conversion, so that 300.0 becomes 44 as uint8. To bool: whether
// it is not zero.
template <class To, class From>
constexpr To convert(From value) {
  constexpr bool kFromFloat = std::is_floating_point_v<From> || kIsHalf<From>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (kIsHalf<From>) {
      return static_cast<float>(value) != 0.0f;
    } else {
      return value != From{0};  // in its own type: a double that no float can hold is not zero
    }
  } else if constexpr (kFromFloat && !std::is_same_v<From, double> &&
                       !std::is_same_v<From, float>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (kFromFloat && std::is_integral_v<To> && sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

// Arrays. Half types go through float, as single values do, by the processor's own conversions: a
// block at a time where the other type is not float itself.
template <class To, class From>
void convert_array(const From* from, To* to, int64_t n) {
  constexpr int64_t kInCache = 512;
  if constexpr (std::is_same_v<To, From>) {
    std::copy_n(from, n, to);
  } else if constexpr (kConvertsInBulk<From, To>) {
    convert_numbers(from, to, n);
  } else if constexpr (!(kIsHalf<From> || kIsHalf<To>)) {
    for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
  } else if constexpr (std::is_same_v<From, float> || std::is_same_v<To, float>) {
    convert(from, to, static_cast<std::size_t>(n));
  } else {
    std::array<float, kInCache> block;
    for (int64_t start = 0; start < n; start += kInCache) {
      const int64_t count = std::min(kInCache, n - start);
      convert_array(from + start, block.data(), count);
      convert_array(block.data(), to + start, count);
    }
  }
}

}  // namespace mxnet
