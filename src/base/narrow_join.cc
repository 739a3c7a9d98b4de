// SPDX-License-Identifier: Apache-2.0
// 16 bytes of each piece, which are several rows of it, side by side in two vectors; a table that
// is made for the call says which of their 128 bytes each byte of the result is.
#include "base/narrow_join.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/cpu_info.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
#if defined(__x86_64__)
namespace {

constexpr int64_t kLane = 16, kMostPieces = 8;
constexpr int64_t kWidest = 8;  // of one row a step it would be a store a row, as by move_pieces
using Order = std::array<unsigned char, kMostPieces * kLane>;

// `together` rows a step, as many as a lane holds of the widest piece. kMany: more pieces than one
// vector has lanes.
template <bool kMany>
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) int64_t join_by_permutes(
    std::span<const PieceOfRows> pieces, char* whole, int64_t rows, int64_t together,
    const Order& order) {
  constexpr int kLanes = kMany ? 8 : 4;
  constexpr int64_t kStored = kLanes * kLane;
  std::array<const char*, kLanes> at;
  std::array<int64_t, kLanes> step;
  int64_t bytes = 0, least = kWidest;
  for (std::size_t i = 0; i < kLanes; ++i) {  // lanes without a piece are of no account
    const PieceOfRows& piece = i < pieces.size() ? pieces[i] : pieces[0];
    at[i] = piece.at;
    step[i] = together * piece.width;
    if (i < pieces.size()) bytes += piece.width;
    least = std::min(least, piece.width);
  }
  // Neither reads nor writes go beyond the rows: those behind may be another thread's.
  const int64_t room = std::max((kLane + least - 1) / least, (kStored + bytes - 1) / bytes);
  const __m512i low = _mm512_loadu_si512(order.data());
  const __m512i high = _mm512_loadu_si512(order.data() + 4 * kLane);
  int64_t row = 0;
  for (; row + std::max(room, together) <= rows; row += together) {
    __m128i x[kLanes];  // (a type with attributes is no argument of a template)
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLanes; ++i) {
      x[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at[i]));
      at[i] += step[i];
    }
    __m512i a = _mm512_castsi128_si512(x[0]);
    a = _mm512_inserti32x4(a, x[1], 1);
    a = _mm512_inserti32x4(a, x[2], 2);
    a = _mm512_inserti32x4(a, x[3], 3);
    if constexpr (kMany) {
      __m512i b = _mm512_castsi128_si512(x[4]);
      b = _mm512_inserti32x4(b, x[5], 1);
      b = _mm512_inserti32x4(b, x[6], 2);
      b = _mm512_inserti32x4(b, x[7], 3);
      _mm512_storeu_si512(whole, _mm512_permutex2var_epi8(a, low, b));
      _mm512_storeu_si512(whole + 4 * kLane, _mm512_permutex2var_epi8(a, high, b));
    } else {
      _mm512_storeu_si512(whole, _mm512_permutexvar_epi8(low, a));
    }
    whole += together * bytes;
  }
  return row;
}

}  // namespace

int64_t join_narrow_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows) {
  if (!cpu_features().avx512vbmi || pieces.size() > kMostPieces) return 0;
  int64_t widest = 0;
  for (const PieceOfRows& piece : pieces) widest = std::max(widest, piece.width);
  if (widest > kWidest) return 0;
  const int64_t together = kLane / widest;
  Order order{};
  auto next = order.begin();
  for (int64_t row = 0; row < together; ++row) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const int64_t width = pieces[i].width, first = static_cast<int64_t>(i) * kLane + row * width;
      for (int64_t byte = 0; byte < width; ++byte)
        *next++ = static_cast<unsigned char>(first + byte);
    }
  }
  return (pieces.size() > 4 ? join_by_permutes<true> : join_by_permutes<false>)(pieces, whole, rows,
                                                                                together, order);
}
#else
int64_t join_narrow_rows(std::span<const PieceOfRows> /*pieces*/, char* /*whole*/,
                         int64_t /*rows*/) {
  return 0;
}
#endif

}  // namespace mxnet
