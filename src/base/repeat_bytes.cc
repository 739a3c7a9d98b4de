// SPDX-License-Identifier: Apache-2.0
// A line is written in as few stores as the processor is fast with (docs/memory_kernels.md,
// "Zen 4").
#include "base/repeat_bytes.h"

#include <cstring>

#include "base/owned_lines.h"
#include "base/prefetch.h"
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

__attribute__((target("avx512f"))) int64_t repeat_lines(char* out, int64_t bytes) noexcept {
  static_assert(2 * kPatternBytes == sizeof(__m512i));
  const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(out));
  // (All lanes by a mask: GCC 12 warns about what its own header leaves undefined without one.)
  const __m512i line = _mm512_maskz_broadcast_i64x4(0xFF, value);
  int64_t i = 0;  // with the pattern itself, which begins a line where the array does
  if (owns_lines(kOwnedFrom)) {
    for (; i + 2 * kPatternBytes <= bytes; i += 2 * kPatternBytes) {
      prefetch_for_write(out + i + kOwnedAhead);
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

void repeat_bytes(char* out, int64_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr int64_t kLong = 512;  // of shorter ones it counts to ask for the level
  const bool lines = bytes >= kLong && simd_level_for_traffic() == 2;
  const bool halves = __builtin_cpu_supports("avx") != 0;
  const int64_t done = (lines ? repeat_lines : halves ? repeat_avx : repeat_plainly)(out, bytes);
#else
  const int64_t done = repeat_plainly(out, bytes);
#endif
  std::memcpy(out + done, out, static_cast<std::size_t>(bytes - done));
}

}  // namespace mxnet
