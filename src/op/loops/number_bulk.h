// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers out of others, by the widest instructions that the CPU has: those conversions
// that programs make of large arrays, and of which the baseline has none (int64, halves of 16
// bits).
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/half.h"

namespace mxnet {

template <class T, class... Among>
inline constexpr bool kIsAmong = (std::is_same_v<T, Among> || ...);
template <class T>
inline constexpr bool kIsWideNumber = std::is_arithmetic_v<T> && sizeof(T) >= 4;
template <class From, class To>
inline constexpr bool kConvertsInBulk =
    kIsWideNumber<To>
        ? !std::is_same_v<From, To> && (kIsWideNumber<From> || kIsAmong<From, uint8_t, int8_t> ||
                                        (kIsAmong<From, bfloat16> && kIsAmong<To, int32_t, double>))
    : kIsAmong<To, bool>     ? kIsAmong<From, float, int32_t, bfloat16, uint8_t>
    : kIsAmong<To, int8_t>   ? kIsAmong<From, float, double, int32_t, bfloat16>
    : kIsAmong<To, uint8_t>  ? kIsAmong<From, int32_t>
    : kIsAmong<To, bfloat16> ? kIsAmong<From, int32_t, int8_t, uint8_t>
                             : false;

// As op/loops/convert.h converts single values. REQUIRES: kConvertsInBulk<From, To>; `to` is apart
// from `from`, or the same.
template <class From, class To>
void convert_numbers(const From* from, To* to, int64_t n);

}  // namespace mxnet
