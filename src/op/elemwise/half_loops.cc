// SPDX-License-Identifier: Apache-2.0
// Eight float16 a step with the conversions of F16C.
#include "op/elemwise/half_loops.h"

#include "base/cpu_info.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {

#if defined(__x86_64__)
namespace {

#define MX_HALF __attribute__((target("avx2,f16c")))

enum class Single : uint8_t { kNone, kLeft, kRight };

template <BinaryRow kRow>
MX_HALF inline __m256 value(__m256 a, __m256 b) {
  if constexpr (kRow == BinaryRow::add) return _mm256_add_ps(a, b);
  if constexpr (kRow == BinaryRow::subtract) return _mm256_sub_ps(a, b);
  if constexpr (kRow == BinaryRow::multiply) return _mm256_mul_ps(a, b);
  if constexpr (kRow == BinaryRow::divide) return _mm256_div_ps(a, b);
}

MX_HALF inline __m256 eight(const float16* x) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}

template <BinaryRow kRow, Single kSingle>
MX_HALF void run(const float16* a, const float16* b, float16* y, int64_t n) {
  constexpr int64_t kLanes = 8;
  const __m256 single =
      kSingle == Single::kNone
          ? __m256{}
          : _mm256_set1_ps(static_cast<float>(kSingle == Single::kLeft ? *a : *b));
  const auto results = [&](const float16* left, const float16* right) MX_HALF {
    const __m256 first = kSingle == Single::kLeft ? single : eight(left);
    const __m256 second = kSingle == Single::kRight ? single : eight(right);
    return _mm256_cvtps_ph(value<kRow>(first, second),
                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(y + i),
        results(kSingle == Single::kLeft ? a : a + i, kSingle == Single::kRight ? b : b + i));
  if (i == n) return;
  float16 left[kLanes] = {}, right[kLanes] = {}, rest[kLanes];
  for (int64_t j = 0; i + j < n; ++j) {
    if (kSingle != Single::kLeft) left[j] = a[i + j];
    if (kSingle != Single::kRight) right[j] = b[i + j];
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), results(left, right));
  for (int64_t j = 0; i + j < n; ++j) y[i + j] = rest[j];
}

template <BinaryRow kRow>
constexpr BinaryLoop<float16, float16> kLoops{run<kRow, Single::kNone>, run<kRow, Single::kRight>,
                                              run<kRow, Single::kLeft>};

}  // namespace

BinaryLoop<float16, float16> half_loop(BinaryRow row) {
  if (simd_level() == 0 || !cpu_features().f16c) return {};
  switch (row) {
    case BinaryRow::add:
      return kLoops<BinaryRow::add>;
    case BinaryRow::subtract:
      return kLoops<BinaryRow::subtract>;
    case BinaryRow::multiply:
      return kLoops<BinaryRow::multiply>;
    case BinaryRow::divide:
      return kLoops<BinaryRow::divide>;
    default:
      return {};
  }
}
#else
BinaryLoop<float16, float16> half_loop(BinaryRow) { return {}; }
#endif

}  // namespace mxnet
