// SPDX-License-Identifier: Apache-2.0
// A line is written in as few stores as the processor is fast with (docs/memory_kernels.md,
// "Zen 4").
#include "base/repeat_bytes.h"

#include <algorithm>
#include <cstring>

#include "base/owned_lines.h"
#include "base/prefetch.h"
#include "base/processor_facts.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

// Returns how many bytes hold the pattern.
int64_t repeat_plainly(char* out, int64_t bytes) noexcept {
  int64_t i = kPatternBytes;
  for (; i + kPatternBytes <= bytes; i += kPatternBytes) std::memcpy(out + i, out, kPatternBytes);
  return i;
}

#if defined(__x86_64__)
__attribute__((target("avx"))) int64_t repeat_avx(char* out, int64_t bytes) noexcept {
  const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(out));
  int64_t i = kPatternBytes;
  for (; i + kPatternBytes <= bytes; i += kPatternBytes)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), value);
  return i;
}

// How far ahead lines of so large a fill are asked for to be written; 0 = not at all.
int64_t lines_ahead(int64_t whole) noexcept {
  if (owns_lines(kOwnedFrom)) return kOwnedAhead;
  // Of 16 MiB on a Zen 5 less is slower: 4096 gain nothing, 8192 a tenth, 12288 a sixth as long as
  // not all of it is in the third-level cache, and nothing is lost where it is.
  constexpr int64_t kFar = 12288, kLarge = int64_t{4} << 20;
  static const bool far = processor_facts().fills_far_ahead;
  return far && whole >= kLarge ? kFar : 0;
}

__attribute__((target("avx512f"))) int64_t repeat_lines(char* out, int64_t bytes,
                                                        int64_t ahead) noexcept {
  static_assert(2 * kPatternBytes == sizeof(__m512i));
  const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(out));
  // (All lanes by a mask: GCC 12 warns about what its own header leaves undefined without one.)
  const __m512i line = _mm512_maskz_broadcast_i64x4(0xFF, value);
  int64_t i = 0;  // with the pattern itself, which begins a line where the array does
  if (ahead > 0) {
    for (; i + 2 * kPatternBytes <= bytes; i += 2 * kPatternBytes) {
      prefetch_for_write(out + i + ahead);
      _mm512_storeu_si512(out + i, line);
    }
  }
  for (; i + 2 * kPatternBytes <= bytes; i += 2 * kPatternBytes) _mm512_storeu_si512(out + i, line);
  if (i + kPatternBytes > bytes) return i;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), value);
  return i + kPatternBytes;
}
#endif

}  // namespace

void repeat_bytes(char* out, int64_t bytes, [[maybe_unused]] int64_t whole) noexcept {
#if defined(__x86_64__)
  constexpr int64_t kLong = 512;  // of shorter ones it counts to ask for the level
  const bool lines = bytes >= kLong && simd_level_for_traffic() == 2;
  static const bool halves = simd_features().avx;
  const int64_t done = lines    ? repeat_lines(out, bytes, lines_ahead(std::max(bytes, whole)))
                       : halves ? repeat_avx(out, bytes)
                                : repeat_plainly(out, bytes);
#else
  const int64_t done = repeat_plainly(out, bytes);
#endif
  std::memcpy(out + done, out, static_cast<std::size_t>(bytes - done));
}

}  // namespace mxnet
