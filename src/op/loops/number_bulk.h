// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers of 32 and 64 bits out of others, by the widest instructions that the CPU has:
// those conversions that programs make of large arrays, and of which the baseline has none (int64).
#pragma once
#include <cstdint>
#include <type_traits>

namespace mxnet {

template <class T>
inline constexpr bool kIsWideNumber = std::is_arithmetic_v<T> && sizeof(T) >= 4;
template <class From, class To>
inline constexpr bool kConvertsInBulk =
    kIsWideNumber<To> && !std::is_same_v<From, To> &&
    (kIsWideNumber<From> || std::is_same_v<From, uint8_t> || std::is_same_v<From, int8_t>);

// As C converts. REQUIRES: kConvertsInBulk<From, To>; `to` is apart from `from`, or the same.
template <class From, class To>
void convert_numbers(const From* from, To* to, int64_t n);

}  // namespace mxnet
