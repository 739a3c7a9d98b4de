// SPDX-License-Identifier: Apache-2.0
// Non-temporal stores where the processor has them, a line at a time in as few of them as it can: a
// processor that reads other memory meanwhile writes out lines that are not full yet, each of which
// costs it a line's time. On an AMD Zen 4 lines in four stores took two to three times as long.
#include "base/stream_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

#if defined(__x86_64__)

template <class Vector>
Vector* vector_at(char* at) {
  return reinterpret_cast<Vector*>(at);
}
template <class Vector>
const Vector* vector_at(const char* at) {
  return reinterpret_cast<const Vector*>(at);
}

void lines_by_quarters(char* to, std::ptrdiff_t step, const char* from,
                       std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += step, from += kLineBytes) {
    for (std::size_t i = 0; i < kLineBytes; i += sizeof(__m128i))
      _mm_stream_si128(vector_at<__m128i>(to + i), _mm_loadu_si128(vector_at<__m128i>(from + i)));
  }
}

__attribute__((target("avx"))) void lines_by_halves(char* to, std::ptrdiff_t step, const char* from,
                                                    std::size_t lines) noexcept {
  constexpr std::size_t kHalf = kLineBytes / 2;
  for (; lines > 0; --lines, to += step, from += kLineBytes) {
    const __m256i first = _mm256_loadu_si256(vector_at<__m256i>(from));
    const __m256i second = _mm256_loadu_si256(vector_at<__m256i>(from + kHalf));
    _mm256_stream_si256(vector_at<__m256i>(to), first);
    _mm256_stream_si256(vector_at<__m256i>(to + kHalf), second);
  }
}

#endif

}  // namespace

void stream_lines(void* to, std::ptrdiff_t step, const void* from, std::size_t lines) noexcept {
#if defined(__x86_64__)
  (__builtin_cpu_supports("avx") ? lines_by_halves : lines_by_quarters)(
      static_cast<char*>(to), step, static_cast<const char*>(from), lines);
#else
  for (std::size_t i = 0; i < lines; ++i) {
    std::memcpy(static_cast<char*>(to) + static_cast<std::ptrdiff_t>(i) * step,
                static_cast<const char*>(from) + i * kLineBytes, kLineBytes);
  }
#endif
}

void stream_copy(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const std::size_t into_line = reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  const std::size_t head = std::min(bytes, into_line == 0 ? 0 : kLineBytes - into_line);
  const std::size_t lines = (bytes - head) / kLineBytes, done = head + lines * kLineBytes;
  std::memcpy(target, source, head);
  stream_lines(target + head, kLineBytes, source + head, lines);
  std::memcpy(target + done, source + done, bytes - done);
#else
  std::memcpy(to, from, bytes);
#endif
}

void finish_stream_copies() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace mxnet
