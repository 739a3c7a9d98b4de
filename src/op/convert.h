// SPDX-License-Identifier: Apache-2.0
// Conversion of elements between types, with the meaning that existing programs rely on.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/half.h"

namespace mxnet {

// Floating to integer truncates; what does not fit takes the low bits of the 32-bit (for int64:
// 64-bit) result of the processor's conversion, so that 300.0 becomes 44 as uint8. To bool: whether
// it is not zero.
template <class To, class From>
constexpr To convert(From value) {
  constexpr bool kFromFloat = std::is_floating_point_v<From> || std::is_same_v<From, float16> ||
                              std::is_same_v<From, bfloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<float>(value) != 0.0f || value != value;
  } else if constexpr (kFromFloat && !std::is_same_v<From, double> &&
                       !std::is_same_v<From, float>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (kFromFloat && std::is_integral_v<To> && sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

// Arrays, vectorised where it pays (float16 and bfloat16 to and from float).
template <class To, class From>
void convert_array(const From* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

}  // namespace mxnet
