// SPDX-License-Identifier: Apache-2.0
// One value into many places.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mxnet {

// Zeros go through memset, which knows the widest stores of the CPU and how to avoid reading what
// is overwritten.
template <class T>
void fill_same(T* to, int64_t n, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr T kZero{};
  // The bits are what counts: a negative zero is not all zeros.
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  if (std::memcmp(&value, &kZero, sizeof(T)) == 0) {
    std::memset(static_cast<void*>(to), 0, static_cast<std::size_t>(n) * sizeof(T));
  } else if constexpr (sizeof(T) == 2) {  // half types, of whose stores compilers make no vectors
    const auto bits = std::bit_cast<uint16_t>(value);
    std::fill_n(reinterpret_cast<uint16_t*>(to), n, bits);
  } else {
    std::fill(to, to + n, value);
  }
}

}  // namespace mxnet
