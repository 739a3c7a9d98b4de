// SPDX-License-Identifier: Apache-2.0
// Blocks of a few bytes, as many as a loop knows, but not the compiler: two moves that overlap.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mxnet {

// kHalf <= width <= 2 * kHalf. Both are read before either is written. (Vectors, because what is
// longer than one would go through memory.)
template <int64_t kHalf>
[[gnu::always_inline]] inline void move_halves(const char* from, char* to, int64_t width) {
  constexpr int64_t kPart = kHalf < 16 ? kHalf : 16, kParts = kHalf / kPart;
  typedef char Part __attribute__((vector_size(kPart)));
  Part parts[2 * kParts];
#pragma GCC unroll 4
  for (int64_t i = 0; i < kParts; ++i) {
    std::memcpy(&parts[2 * i], from + i * kPart, sizeof(Part));
    std::memcpy(&parts[2 * i + 1], from + width - kHalf + i * kPart, sizeof(Part));
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < kParts; ++i) {
    std::memcpy(to + i * kPart, &parts[2 * i], sizeof(Part));
    std::memcpy(to + width - kHalf + i * kPart, &parts[2 * i + 1], sizeof(Part));
  }
}

// The most bytes of a block that is short.
inline constexpr int64_t kShortBlock = 64;

// fn(std::integral_constant of kHalf) for blocks of `width` bytes. REQUIRES: 0 < width <=
// kShortBlock.
template <class F>
auto with_half(int64_t width, const F& fn) {
  if (width <= 2) return fn(std::integral_constant<int64_t, 1>{});
  if (width <= 4) return fn(std::integral_constant<int64_t, 2>{});
  if (width <= 8) return fn(std::integral_constant<int64_t, 4>{});
  if (width <= 16) return fn(std::integral_constant<int64_t, 8>{});
  if (width <= 32) return fn(std::integral_constant<int64_t, 16>{});
  return fn(std::integral_constant<int64_t, 32>{});
}

}  // namespace mxnet
