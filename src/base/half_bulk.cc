// SPDX-License-Identifier: Apache-2.0
// Three paths: AVX-512 (16 values a step), F16C with AVX2 (8), and plain loops. Tails shorter than
// a step take the plain path.
#include "base/half_bulk.h"

#include <array>
#include <cstdint>

#include "base/simd.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's own header, not ours
#endif
#include <immintrin.h>
#endif

namespace mxnet {
namespace half_detail {
namespace {

template <class From, class To>
void plain(const From* from, To* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) to[i] = To(static_cast<float>(from[i]));
}

constexpr BulkPath kPlain{"plain", plain<float16, float>, plain<float, float16>,
                          plain<bfloat16, float>, plain<float, bfloat16>};

#if defined(__x86_64__)

#define MX_AVX2 __attribute__((target("avx2,f16c")))
#define MX_AVX512 __attribute__((target("avx512f,avx512bw")))

// Upper halves of registers that stay in use make every SSE instruction that the thread comes to
// wait for the one before that wrote its register, in any code that follows ("A trap" in
// docs/kernels.md). GCC gives them back where it optimises and sees a wide register, which GCC 12
// does not where conversions read memory.
MX_AVX2 inline void give_back_upper_halves() noexcept { _mm256_zeroupper(); }

// The hardware turns a signalling NaN into a quiet one when it widens; half.h keeps the bits, which
// steps with a NaN, rare as they are, take from the integers.
MX_AVX2 bool has_nan16(__m128i half) {
  const __m128i magnitude = _mm_and_si128(half, _mm_set1_epi16(0x7fff));
  return _mm_movemask_epi8(_mm_cmpgt_epi16(magnitude, _mm_set1_epi16(0x7c00))) != 0;
}

MX_AVX2 void half_to_float_avx2(const float16* from, float* to, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    if (__builtin_expect(has_nan16(half), 0)) {
      const __m256i wide = _mm256_cvtepu16_epi32(half);
      const __m256i size = _mm256_and_si256(wide, _mm256_set1_epi32(0x7fff));
      const __m256i sign = _mm256_slli_epi32(_mm256_xor_si256(wide, size), 16);
      const __m256i nan = _mm256_or_si256(_mm256_or_si256(sign, _mm256_set1_epi32(0x7f800000)),
                                          _mm256_slli_epi32(size, 13));
      const __m256i is_nan = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7c00));
      _mm256_storeu_ps(to + i, _mm256_blendv_ps(_mm256_cvtph_ps(half), _mm256_castsi256_ps(nan),
                                                _mm256_castsi256_ps(is_nan)));
    } else {
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(half));
    }
  }
  give_back_upper_halves();
  plain(from + i, to + i, count - i);
}

MX_AVX2 __m128i eight_halves(const float* from) {
  return _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// Also where there is AVX-512: on Zen 4 stores of two results together are a tenth faster than
// those of one, and conversions of 16 at once are in between.
MX_AVX2 void float_to_half_avx2(const float* from, float16* to, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m128i first = eight_halves(from + i), second = eight_halves(from + i + 8);
    const __m128i third = eight_halves(from + i + 16), fourth = eight_halves(from + i + 24);
    auto* out = reinterpret_cast<__m256i*>(to + i);
    _mm256_storeu_si256(out, _mm256_set_m128i(second, first));
    _mm256_storeu_si256(out + 1, _mm256_set_m128i(fourth, third));
  }
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), eight_halves(from + i));
  give_back_upper_halves();
  plain(from + i, to + i, count - i);
}

MX_AVX2 void bfloat_to_float_avx2(const bfloat16* from, float* to, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i brain = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_slli_epi32(_mm256_cvtepu16_epi32(brain), 16));
  }
  give_back_upper_halves();
  plain(from + i, to + i, count - i);
}

MX_AVX2 void float_to_bfloat_avx2(const float* from, bfloat16* to, std::size_t count) noexcept {
  std::size_t i = 0;
  const __m256i one = _mm256_set1_epi32(1), bias = _mm256_set1_epi32(0x7fff);
  const __m256i quiet = _mm256_set1_epi32(0x40);
  for (; i + 8 <= count; i += 8) {
    const __m256 value = _mm256_loadu_ps(from + i);
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i top = _mm256_srli_epi32(bits, 16);
    const __m256i rounded = _mm256_srli_epi32(
        _mm256_add_epi32(_mm256_add_epi32(bits, bias), _mm256_and_si256(top, one)), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m256i result = _mm256_blendv_epi8(rounded, _mm256_or_si256(top, quiet), nan);
    const __m128i packed =
        _mm_packus_epi32(_mm256_castsi256_si128(result), _mm256_extracti128_si256(result, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), packed);
  }
  give_back_upper_halves();
  plain(from + i, to + i, count - i);
}

MX_AVX512 void half_to_float_avx512(const float16* from, float* to, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i magnitude = _mm256_and_si256(half, _mm256_set1_epi16(0x7fff));
    if (__builtin_expect(
            _mm256_movemask_epi8(_mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(0x7c00))) != 0,
            0)) {
      const __m512i wide = _mm512_cvtepu16_epi32(half);
      const __m512i size = _mm512_and_si512(wide, _mm512_set1_epi32(0x7fff));
      const __m512i sign = _mm512_slli_epi32(_mm512_xor_si512(wide, size), 16);
      const __m512i nan = _mm512_or_si512(_mm512_or_si512(sign, _mm512_set1_epi32(0x7f800000)),
                                          _mm512_slli_epi32(size, 13));
      const __mmask16 is_nan = _mm512_cmpgt_epi32_mask(size, _mm512_set1_epi32(0x7c00));
      _mm512_storeu_ps(to + i,
                       _mm512_mask_mov_ps(_mm512_cvtph_ps(half), is_nan, _mm512_castsi512_ps(nan)));
    } else {
      _mm512_storeu_ps(to + i, _mm512_cvtph_ps(half));
    }
  }
  give_back_upper_halves();
  plain(from + i, to + i, count - i);
}

MX_AVX512 void bfloat_to_float_avx512(const bfloat16* from, float* to, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256i brain = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_si512(to + i, _mm512_slli_epi32(_mm512_cvtepu16_epi32(brain), 16));
  }
  give_back_upper_halves();
  plain(from + i, to + i, count - i);
}

// The nearest bfloat16 of each lane, in its upper half; of NaN whatever it may be.
MX_AVX512 __m512i rounded_above(__m512 value) {
  const __m512i bits = _mm512_castps_si512(value);
  const __m512i lowest = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(_mm512_add_epi32(bits, lowest), _mm512_set1_epi32(0x7fff));
}
MX_AVX512 __m512i with_quiet_nan(__m512i rounded, __m512 value) {
  return _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q),
                              _mm512_castps_si512(value), _mm512_set1_epi32(0x400000));
}

// Two registers a step, whose upper halves one instruction gathers.
MX_AVX512 void float_to_bfloat_avx512(const float* from, bfloat16* to, std::size_t count) noexcept {
  std::size_t i = 0;
  alignas(64) constexpr std::array<uint16_t, 32> kUpperHalves = [] {
    std::array<uint16_t, 32> places{};
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<uint16_t>(2 * k + 1);
    return places;
  }();
  const __m512i upper_halves = _mm512_load_si512(kUpperHalves.data());
  for (; i + 32 <= count; i += 32) {
    const __m512 first = _mm512_loadu_ps(from + i), second = _mm512_loadu_ps(from + i + 16);
    __m512i low = rounded_above(first), high = rounded_above(second);
    if (__builtin_expect(_mm512_cmp_ps_mask(first, second, _CMP_UNORD_Q) != 0, 0)) {
      low = with_quiet_nan(low, first);
      high = with_quiet_nan(high, second);
    }
    _mm512_storeu_si512(to + i, _mm512_permutex2var_epi16(low, upper_halves, high));
  }
  for (; i + 16 <= count; i += 16) {
    const __m512 value = _mm512_loadu_ps(from + i);
    const __m512i result = with_quiet_nan(rounded_above(value), value);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(result, 16)));
  }
  give_back_upper_halves();
  plain(from + i, to + i, count - i);
}

constexpr BulkPath kAVX2{"avx2+f16c", half_to_float_avx2, float_to_half_avx2, bfloat_to_float_avx2,
                         float_to_bfloat_avx2};
constexpr BulkPath kAVX512{"avx512", half_to_float_avx512, float_to_half_avx2,
                           bfloat_to_float_avx512, float_to_bfloat_avx512};

BulkPaths find_paths() {
  BulkPaths found{};
  const CpuFeatures& cpu = simd_features();
  if (cpu.avx512f && cpu.avx512bw) found.paths[found.count++] = kAVX512;
  if (cpu.avx2 && cpu.f16c) found.paths[found.count++] = kAVX2;
  found.paths[found.count++] = kPlain;
  return found;
}

#else

BulkPaths find_paths() { return {{kPlain}, 1}; }

#endif

const BulkPath& best() {
  static const BulkPath path = bulk_paths().paths[0];
  return path;
}

}  // namespace

const BulkPaths& bulk_paths() noexcept {
  static const BulkPaths paths = find_paths();
  return paths;
}

}  // namespace half_detail

void convert(const float16* from, float* to, std::size_t count) noexcept {
  half_detail::best().half_to_float(from, to, count);
}
void convert(const float* from, float16* to, std::size_t count) noexcept {
  half_detail::best().float_to_half(from, to, count);
}
void convert(const bfloat16* from, float* to, std::size_t count) noexcept {
  half_detail::best().bfloat_to_float(from, to, count);
}
void convert(const float* from, bfloat16* to, std::size_t count) noexcept {
  half_detail::best().float_to_bfloat(from, to, count);
}

}  // namespace mxnet
