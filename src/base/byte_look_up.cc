// SPDX-License-Identifier: Apache-2.0
// 64 bytes at once where the processor permutes bytes of registers.
#include "base/byte_look_up.h"

#include <cstring>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
namespace {

using Loop = void (*)(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n);

void look_up_one_by_one(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {  // one store of eight: each byte's could be to any array
    uint64_t from, to = 0;
    std::memcpy(&from, x + i, sizeof(from));
    for (int shift = 0; shift < 64; shift += 8)
      to |= uint64_t{table[from >> shift & 0xff]} << shift;
    std::memcpy(y + i, &to, sizeof(to));
  }
  for (; i < n; ++i) y[i] = table[x[i]];
}

#if defined(__x86_64__)

// The table in four registers, of which an instruction takes from two; the highest bit of a byte
// says from which two.
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) void look_up_by_registers(
    const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n) {
  constexpr int64_t kLanes = 64;
  const __m512i quarters[] = {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                              _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)};
  for (int64_t i = 0; i < n; i += kLanes) {
    const __mmask64 lanes = n - i < kLanes ? (__mmask64{1} << (n - i)) - 1 : ~__mmask64{0};
    const __m512i at = _mm512_maskz_loadu_epi8(lanes, x + i);
    const __m512i low = _mm512_permutex2var_epi8(quarters[0], at, quarters[1]);
    const __m512i high = _mm512_permutex2var_epi8(quarters[2], at, quarters[3]);
    const __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high);
    _mm512_mask_storeu_epi8(y + i, lanes, found);
  }
}

Loop best() { return simd_features().avx512vbmi ? look_up_by_registers : look_up_one_by_one; }

#else

Loop best() { return look_up_one_by_one; }

#endif

}  // namespace

void look_up_bytes(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n) noexcept {
  static const Loop loop = best();
  loop(table, x, y, n);
}

}  // namespace mxnet
