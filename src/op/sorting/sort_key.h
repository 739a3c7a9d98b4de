// SPDX-License-Identifier: Apache-2.0
// Elements as unsigned integers of the same order, so that one sort serves all types and both
// directions. NaN comes last in ascending and first in descending order. -0 equals 0 where
// positions decide between equals; where only values are sorted it comes just below, so that it is
// kept.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/half.h"
#include "base/host_device.h"
#include "op/run/element_size.h"

// X(T) for each type whose rows are sorted.
#define MX_EACH_SORTED_TYPE(X) \
  X(float)                     \
  X(double) X(float16) X(bfloat16) X(uint8_t) X(int8_t) X(int32_t) X(int64_t) X(bool)

namespace mxnet {

template <class T>
using SortKey = UnsignedOf<sizeof(T)>;

template <class T>
inline constexpr bool kSortsAsReal =
    std::is_floating_point_v<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

// The bits of infinity: those of NaN are above, sign aside.
template <class T>
inline constexpr SortKey<T> kInfinityBits = 0;
template <>
inline constexpr uint16_t kInfinityBits<float16> = 0x7c00;
template <>
inline constexpr uint16_t kInfinityBits<bfloat16> = 0x7f80;
template <>
inline constexpr uint32_t kInfinityBits<float> = 0x7f800000;
template <>
inline constexpr uint64_t kInfinityBits<double> = 0x7ff0000000000000;

// `flip` is 0 for ascending and all ones for descending order. Always inlined: loops are compiled
// for several instruction sets.
template <class T, bool kZerosMeet = true>
MX_HOST_DEVICE [[gnu::always_inline]] inline SortKey<T> to_key(T value, SortKey<T> flip) {
  using K = SortKey<T>;
  constexpr K kSign = static_cast<K>(K{1} << (sizeof(K) * 8 - 1));
  K bits;
  memcpy(&bits, &value, sizeof(K));
  if constexpr (std::is_same_v<T, bool>) {
    bits = bits != 0;  // whatever byte says so
  } else if constexpr (kSortsAsReal<T>) {
    const K size = static_cast<K>(bits & static_cast<K>(~kSign));
    // Negative numbers count downwards, from 0 where the zeros meet.
    const K below = kZerosMeet ? static_cast<K>(K{0} - size) : static_cast<K>(~size);
    const K number = (bits & kSign) != 0 ? below : bits;
    bits = size > kInfinityBits<T> ? static_cast<K>(~K{0}) : static_cast<K>(number ^ kSign);
  } else if constexpr (std::is_signed_v<T>) {
    bits = static_cast<K>(bits ^ kSign);
  }
  return static_cast<K>(bits ^ flip);
}

// Turns a key into the bits of the element that it belongs to, which undoes to_key<T, false>: NaN
// loses its sign. B is SortKey<T> or a vector of such, which is why it is not returned.
template <class T, class B>
[[gnu::always_inline]] inline void key_to_bits(B& bits, const B& flip) {
  using K = SortKey<T>;
  constexpr K kSign = static_cast<K>(K{1} << (sizeof(K) * 8 - 1));
  bits = static_cast<B>(bits ^ flip);
  if constexpr (kSortsAsReal<T>) {
    const B number = static_cast<B>(bits ^ kSign);
    // All ones, the key of NaN, are its quiet pattern when the sign is taken away.
    bits = (number & kSign) != 0 ? static_cast<B>(~number | kSign) : number;
  } else if constexpr (std::is_signed_v<T>) {
    bits = static_cast<B>(bits ^ kSign);
  }
}

template <class T>
[[gnu::always_inline]] inline T from_key(SortKey<T> key, SortKey<T> flip) {
  key_to_bits<T>(key, flip);
  T value;
  memcpy(&value, &key, sizeof(T));
  return value;
}

}  // namespace mxnet
