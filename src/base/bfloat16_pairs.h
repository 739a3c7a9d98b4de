// SPDX-License-Identifier: Apache-2.0
// Sums in float of products of pairs of bfloat16, by the instruction that AVX512_BF16 has for them.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/simd_intrinsics.h"

// Before functions that use PairSums: only for processors whose avx512bf16 is set
// (base/cpu_info.h).
#if defined(__x86_64__)
#define MX_BFLOAT16_PAIRS [[gnu::target("arch=x86-64-v4,avx512bf16")]]
#else
#define MX_BFLOAT16_PAIRS
#endif

namespace mxnet {

// Two neighbours in memory, as one number.
using Bfloat16Pair = uint32_t;

// The bits of the nearest bfloat16, in the upper half; NaN stays NaN.
[[gnu::always_inline]] inline uint32_t rounded_to_bfloat16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t nearest = bits + 0x7fffu + (bits >> 16 & 1u);
  return x != x ? bits | 0x400000u : nearest;
}

// Elements of two rows side by side; no second row is one of zeros.
MX_BFLOAT16_PAIRS inline void pair_up(const float* low, const float* high, int64_t count,
                                      Bfloat16Pair* to) {
  if (high == nullptr) {
    for (int64_t j = 0; j < count; ++j) to[j] = rounded_to_bfloat16(low[j]) >> 16;
  } else {
    for (int64_t j = 0; j < count; ++j)
      to[j] = rounded_to_bfloat16(low[j]) >> 16 | (rounded_to_bfloat16(high[j]) & 0xffff0000u);
  }
}

#if defined(__x86_64__)
// Sums for sixteen columns.
struct PairSums {
  static constexpr int kCount = 16;

  MX_BFLOAT16_PAIRS [[gnu::always_inline]] static PairSums zero() { return {_mm512_setzero_ps()}; }
  MX_BFLOAT16_PAIRS [[gnu::always_inline]] static PairSums load(const float* from) {
    return {_mm512_loadu_ps(from)};
  }
  // `left` meets each of the pairs in `right`.
  MX_BFLOAT16_PAIRS [[gnu::always_inline]] void add(Bfloat16Pair left, const PairSums& right) {
    const auto all = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int32_t>(left)));
    values = _mm512_dpbf16_ps(values, all, reinterpret_cast<__m512bh>(right.values));
  }
  MX_BFLOAT16_PAIRS [[gnu::always_inline]] void add(const PairSums& more) {
    values = _mm512_add_ps(values, more.values);
  }
  MX_BFLOAT16_PAIRS [[gnu::always_inline]] void store(float* to) const {
    _mm512_storeu_ps(to, values);
  }
  __m512 values;
};
// Which of sixteen columns there are, of those that are left.
MX_BFLOAT16_PAIRS [[gnu::always_inline]] inline __mmask16 columns_of(int64_t left) {
  return static_cast<__mmask16>(left < PairSums::kCount ? (1u << left) - 1 : 0xffffu);
}
// The nearest bfloat16 of each sum. The instructions know no subnormal numbers, no more than sums
// do.
MX_BFLOAT16_PAIRS inline void round_sums(const float* sums, int64_t count, uint16_t* to) {
  constexpr int64_t kBoth = 2 * PairSums::kCount;
  for (; count >= kBoth; count -= kBoth, sums += kBoth, to += kBoth) {
    const __m512 low = _mm512_loadu_ps(sums), high = _mm512_loadu_ps(sums + PairSums::kCount);
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
  for (int64_t j = 0; j < count; j += PairSums::kCount) {
    const __mmask16 lanes = columns_of(count - j);
    const __m512 some = _mm512_maskz_loadu_ps(lanes, sums + j);
    _mm256_mask_storeu_epi16(to + j, lanes, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(some)));
  }
}
// As round_sums() of one or two registers, of which `count` sums are wanted.
template <int vectors>
MX_BFLOAT16_PAIRS [[gnu::always_inline]] inline void round_sums(const PairSums (&sums)[vectors],
                                                                int64_t count, uint16_t* to) {
  static_assert(vectors <= 2);
  const __m512 high = vectors == 2 ? sums[vectors - 1].values : _mm512_setzero_ps();
  const auto bits = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, sums[0].values));
  if (count >= 2 * PairSums::kCount) return _mm512_storeu_si512(to, bits);
  _mm512_mask_storeu_epi16(to, static_cast<__mmask32>((1u << count) - 1), bits);
}
// Bits of two rows side by side, with zeros up to a multiple of sixteen pairs.
MX_BFLOAT16_PAIRS inline void pair_up(const uint16_t* low, const uint16_t* high, int64_t count,
                                      Bfloat16Pair* to) {
  for (int64_t j = 0; j < count; j += PairSums::kCount) {
    const __mmask16 lanes = columns_of(count - j);
    const __m512i lower = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, low + j));
    const __m256i upper =
        high == nullptr ? _mm256_setzero_si256() : _mm256_maskz_loadu_epi16(lanes, high + j);
    _mm512_storeu_si512(
        to + j, _mm512_or_si512(lower, _mm512_slli_epi32(_mm512_cvtepu16_epi32(upper), 16)));
  }
}
#else
// For other processors to compile; none is asked to run it.
struct PairSums {
  static constexpr int kCount = 16;

  static PairSums zero() { return {}; }
  static PairSums load(const float* from) {
    PairSums loaded;
    for (int i = 0; i < kCount; ++i) loaded.values[i] = from[i];
    return loaded;
  }
  void add(Bfloat16Pair left, const PairSums& right) {
    for (int i = 0; i < kCount; ++i) {
      const auto pair = std::bit_cast<Bfloat16Pair>(right.values[i]);
      values[i] += number(left) * number(pair) + number(left << 16) * number(pair << 16);
    }
  }
  void add(const PairSums& more) {
    for (int i = 0; i < kCount; ++i) values[i] += more.values[i];
  }
  void store(float* to) const {
    for (int i = 0; i < kCount; ++i) to[i] = values[i];
  }
  static float number(uint32_t high) { return std::bit_cast<float>(high & 0xffff0000u); }
  float values[kCount] = {};
};
inline void round_sums(const float* sums, int64_t count, uint16_t* to) {
  for (int64_t j = 0; j < count; ++j)
    to[j] = static_cast<uint16_t>(rounded_to_bfloat16(sums[j]) >> 16);
}
template <int vectors>
void round_sums(const PairSums (&sums)[vectors], int64_t count, uint16_t* to) {
  for (int v = 0; v < vectors; ++v)
    round_sums(sums[v].values,
               std::clamp<int64_t>(count - v * PairSums::kCount, 0, PairSums::kCount),
               to + v * PairSums::kCount);
}
inline void pair_up(const uint16_t* low, const uint16_t* high, int64_t count, Bfloat16Pair* to) {
  int64_t j = 0;
  for (; j < count; ++j)
    to[j] = low[j] | (high == nullptr ? 0u : static_cast<uint32_t>(high[j]) << 16);
  for (; j % PairSums::kCount != 0; ++j) to[j] = 0;
}
#endif

}  // namespace mxnet
