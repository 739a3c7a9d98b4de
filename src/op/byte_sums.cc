// SPDX-License-Identifier: Apache-2.0
#include "op/byte_sums.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

// Rows whose sums 16 bits hold.
constexpr int64_t kMostRows = 65535 / 255;

}  // namespace

int64_t sum_of_bytes(const uint8_t* x, int64_t n) {
  int64_t i = 0, sum = 0;
#if defined(__x86_64__)
  // The instruction for distances of pictures adds eight bytes; here they are as far from zero.
  __m128i even = _mm_setzero_si128(), odd = even;
  const __m128i zero = even;
  const auto sums_at = [&](int64_t at) {
    return _mm_sad_epu8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + at)), zero);
  };
  for (; i + 32 <= n; i += 32) {
    even = _mm_add_epi64(even, sums_at(i));
    odd = _mm_add_epi64(odd, sums_at(i + 16));
  }
  int64_t lanes[2];
  const __m128i both = _mm_add_epi64(even, odd);
  std::memcpy(lanes, &both, sizeof(lanes));
  sum = lanes[0] + lanes[1];
#endif
  for (; i < n; ++i) sum += x[i];
  return sum;
}

void add_rows_of_bytes(const uint8_t* x, int64_t rows, int64_t stride, int64_t* acc,
                       int64_t width) {
  while (rows > 0) {
    const int64_t block = std::min(rows, kMostRows);
    std::array<uint16_t, kMostByteColumns> sums;
    std::fill_n(sums.data(), width, uint16_t{0});
    int64_t r = 0;
    for (; r + 4 <= block; r += 4, x += 4 * stride) {
      const uint8_t *a = x, *b = a + stride, *c = b + stride, *d = c + stride;
      uint16_t* to = sums.data();
      MX_INDEPENDENT_STEPS
      for (int64_t j = 0; j < width; ++j)
        to[j] = static_cast<uint16_t>(to[j] + a[j] + b[j] + c[j] + d[j]);
    }
    for (; r < block; ++r, x += stride) {
      uint16_t* to = sums.data();
      MX_INDEPENDENT_STEPS
      for (int64_t j = 0; j < width; ++j) to[j] = static_cast<uint16_t>(to[j] + x[j]);
    }
    for (int64_t j = 0; j < width; ++j) acc[j] += sums[static_cast<std::size_t>(j)];
    rows -= block;
  }
}

}  // namespace mxnet
