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

constexpr std::size_t kLine = 64;

template <class Vector>
Vector* vector_at(char* at) {
  return reinterpret_cast<Vector*>(at);
}
template <class Vector>
const Vector* vector_at(const char* at) {
  return reinterpret_cast<const Vector*>(at);
}

// REQUIRES: `to` begins a line.
void stream_lines(char* to, const char* from, std::size_t lines) noexcept {
  for (std::size_t i = 0; i < lines * kLine; i += sizeof(__m128i))
    _mm_stream_si128(vector_at<__m128i>(to + i), _mm_loadu_si128(vector_at<__m128i>(from + i)));
}

__attribute__((target("avx"))) void stream_lines_avx(char* to, const char* from,
                                                     std::size_t lines) noexcept {
  constexpr std::size_t kHalf = kLine / 2;
  for (std::size_t i = 0; i < lines * kLine; i += kLine) {
    const __m256i first = _mm256_loadu_si256(vector_at<__m256i>(from + i));
    const __m256i second = _mm256_loadu_si256(vector_at<__m256i>(from + i + kHalf));
    _mm256_stream_si256(vector_at<__m256i>(to + i), first);
    _mm256_stream_si256(vector_at<__m256i>(to + i + kHalf), second);
  }
}

#endif

}  // namespace

void stream_copy(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const std::size_t into_line = reinterpret_cast<std::uintptr_t>(to) % kLine;
  const std::size_t head = std::min(bytes, into_line == 0 ? 0 : kLine - into_line);
  const std::size_t lines = (bytes - head) / kLine, done = head + lines * kLine;
  std::memcpy(target, source, head);
  (__builtin_cpu_supports("avx") ? stream_lines_avx : stream_lines)(target + head, source + head,
                                                                    lines);
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
