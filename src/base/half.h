// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 as storage types: arithmetic is done in float. Conversions round to nearest,
// ties to even, keep NaN, infinities and subnormals. Bulk conversions live with the kernels; these
// serve single values.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

namespace mxnet {

namespace half_detail {

constexpr uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u)
    return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 2^16 or more
  if (magnitude >= 0x38800000u) {                  // normal: 2^-14 and up
    const uint32_t rebased = magnitude - (112u << 23);
    return static_cast<uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
  }
  if (magnitude < 0x33000000u) return sign;  // below half of the smallest subnormal
  const uint32_t exponent = magnitude >> 23;
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t shift = 126u - exponent;  // 14 .. 24
  const uint32_t half_ulp = 1u << (shift - 1);
  const uint32_t kept = mantissa >> shift;
  return static_cast<uint16_t>(
      sign | (kept + ((mantissa & ((half_ulp << 1) - 1)) + (kept & 1u) > half_ulp)));
}

constexpr float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  // Zero or subnormal: mantissa * 2^-24, exact in float.
  const float value = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -value : value;
}

constexpr uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace half_detail

struct float16 {
  uint16_t bits;
  float16() = default;
  constexpr float16(float value) : bits(half_detail::float_to_half(value)) {}  // NOLINT: a number
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, float>) constexpr float16(T value)
      : float16(static_cast<float>(value)) {}                                    // NOLINT: a number
  constexpr operator float() const { return half_detail::half_to_float(bits); }  // NOLINT: a number
};

struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  constexpr bfloat16(float value)
      : bits(half_detail::float_to_bfloat(value)) {}  // NOLINT: a number
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, float>) constexpr bfloat16(T value)
      : bfloat16(static_cast<float>(value)) {}  // NOLINT: a number
  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }  // NOLINT
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

}  // namespace mxnet
