// SPDX-License-Identifier: Apache-2.0
// One value into many places.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/repeat_bytes.h"

namespace mxnet {

// Zeros go through memset, which knows the widest stores of the CPU and how to avoid reading what
// is overwritten. Others are a pattern for as wide ones: what std::fill is compiled to are stores
// of 16 bytes.
template <class T>
void fill_same(T* to, int64_t n, T value) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  static_assert(std::is_trivially_copyable_v<T> && kPatternBytes % kBytes == 0);
  constexpr T kZero{};
  // The bits are what counts: a negative zero is not all zeros.
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  if (std::memcmp(&value, &kZero, sizeof(T)) == 0) {
    std::memset(static_cast<void*>(to), 0, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  const bool is_long = n * kBytes >= kLongPattern;
  const int64_t first = is_long ? kPatternBytes / kBytes : n;
  if constexpr (sizeof(T) == 2) {  // half types, of whose stores compilers make no vectors
    std::fill_n(reinterpret_cast<uint16_t*>(to), first, std::bit_cast<uint16_t>(value));
  } else {
    std::fill_n(to, first, value);
  }
  if (is_long) repeat_bytes(reinterpret_cast<char*>(to), n * kBytes);
}

}  // namespace mxnet
