// SPDX-License-Identifier: Apache-2.0
// Non-temporal stores where the processor has them.
#include "base/stream_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mxnet {

void stream_copy(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
  // Whole lines only: a part of one that goes past the caches costs the memory as much as several.
  constexpr std::size_t kWidth = sizeof(__m128i), kLine = 64;
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const std::size_t unaligned = reinterpret_cast<std::uintptr_t>(to) % kLine;
  std::size_t i = std::min(bytes, unaligned == 0 ? 0 : kLine - unaligned);
  std::memcpy(target, source, i);
  for (; i + kLine <= bytes; i += kLine) {
    for (std::size_t at = i; at < i + kLine; at += kWidth)
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at)));
  }
  std::memcpy(target + i, source + i, bytes - i);
#else
  std::memcpy(to, from, bytes);
#endif
}

void finish_stream_copies() noexcept {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace mxnet
