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

// `together` rows a step, as many as a lane holds of the widest piece, as long as `room` rows are
// left. kMany: more pieces than one
// vector has lanes.
template <bool kJoins, bool kMany>
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) int64_t move_by_permutes(
    std::span<const PieceOfRows> pieces, char* whole, int64_t rows, int64_t together, int64_t room,
    const Order& order) {
  constexpr int kLanes = kMany ? 8 : 4;
  std::array<char*, kLanes> at;
  std::array<int64_t, kLanes> step;
  int64_t bytes = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {  // lanes without a piece are of no account
    const PieceOfRows& piece = i < pieces.size() ? pieces[i] : pieces[0];
    at[i] = piece.at;
    step[i] = together * piece.width;
    if (i < pieces.size()) bytes += piece.width;
  }
  const __m512i low = _mm512_loadu_si512(order.data());
  const __m512i high = _mm512_loadu_si512(order.data() + 4 * kLane);
  int64_t row = 0;
  for (; row + room <= rows; row += together, whole += together * bytes) {
    __m128i x[kLanes];  // (a type with attributes is no argument of a template)
    __m512i a, b;
    if constexpr (kJoins) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kLanes; ++i)
        x[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at[i]));
      a = _mm512_castsi128_si512(x[0]);
      a = _mm512_inserti32x4(a, x[1], 1);
      a = _mm512_inserti32x4(a, x[2], 2);
      a = _mm512_inserti32x4(a, x[3], 3);
      if constexpr (kMany) {
        b = _mm512_castsi128_si512(x[4]);
        b = _mm512_inserti32x4(b, x[5], 1);
        b = _mm512_inserti32x4(b, x[6], 2);
        b = _mm512_inserti32x4(b, x[7], 3);
        _mm512_storeu_si512(whole, _mm512_permutex2var_epi8(a, low, b));
        _mm512_storeu_si512(whole + 4 * kLane, _mm512_permutex2var_epi8(a, high, b));
      } else {
        _mm512_storeu_si512(whole, _mm512_permutexvar_epi8(low, a));
      }
    } else {
      a = _mm512_loadu_si512(whole);
      if constexpr (kMany) {
        b = _mm512_loadu_si512(whole + 4 * kLane);
        const __m512i turned = _mm512_permutex2var_epi8(a, low, b);
        b = _mm512_permutex2var_epi8(a, high, b);
        a = turned;
        x[4] = _mm512_castsi512_si128(b);
        x[5] = _mm512_extracti32x4_epi32(b, 1);
        x[6] = _mm512_extracti32x4_epi32(b, 2);
        x[7] = _mm512_extracti32x4_epi32(b, 3);
      } else {
        a = _mm512_permutexvar_epi8(low, a);
      }
      x[0] = _mm512_castsi512_si128(a);
      x[1] = _mm512_extracti32x4_epi32(a, 1);
      x[2] = _mm512_extracti32x4_epi32(a, 2);
      x[3] = _mm512_extracti32x4_epi32(a, 3);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kLanes; ++i)
        if (i < pieces.size()) _mm_storeu_si128(reinterpret_cast<__m128i*>(at[i]), x[i]);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLanes; ++i) at[i] += step[i];
  }
  return row;
}

// The bytes of a step where they stand in the whole and in the lanes: for each byte of the result
// which one of the other side it is.
template <bool kJoins>
int64_t move_narrow_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows) {
  int64_t widest = 0, least = kWidest, bytes = 0;
  for (const PieceOfRows& piece : pieces) {
    widest = std::max(widest, piece.width);
    least = std::min(least, piece.width);
    bytes += piece.width;
  }
  if (!moves_narrow_rows(pieces.size(), widest)) return 0;
  const bool many = pieces.size() > 4;
  const int64_t together = kLane / widest, vectors = (many ? 8 : 4) * kLane;
  // Neither reads nor writes go beyond the rows: those behind may be another thread's.
  const int64_t room =
      std::max({together, (kLane + least - 1) / least, (vectors + bytes - 1) / bytes});
  if (rows < room) return 0;
  Order order{};
  int64_t in_whole = 0;
  for (int64_t row = 0; row < together; ++row) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const int64_t width = pieces[i].width;
      int64_t in_lanes = static_cast<int64_t>(i) * kLane + row * width;
      for (int64_t byte = 0; byte < width; ++byte, ++in_whole, ++in_lanes) {
        const int64_t from = kJoins ? in_lanes : in_whole, to = kJoins ? in_whole : in_lanes;
        order[static_cast<std::size_t>(to)] = static_cast<unsigned char>(from);
      }
    }
  }
  return (many ? move_by_permutes<kJoins, true>
               : move_by_permutes<kJoins, false>)(pieces, whole, rows, together, room, order);
}

}  // namespace

bool moves_narrow_rows(std::size_t pieces, int64_t widest) {
  return cpu_features().avx512vbmi && pieces <= kMostPieces && widest <= kWidest;
}
int64_t join_narrow_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows) {
  return move_narrow_rows<true>(pieces, whole, rows);
}
int64_t split_narrow_rows(std::span<const PieceOfRows> pieces, const char* whole, int64_t rows) {
  return move_narrow_rows<false>(pieces, const_cast<char*>(whole), rows);  // which is only read
}
#else
bool moves_narrow_rows(std::size_t /*pieces*/, int64_t /*widest*/) { return false; }
int64_t join_narrow_rows(std::span<const PieceOfRows> /*pieces*/, char* /*whole*/,
                         int64_t /*rows*/) {
  return 0;
}
int64_t split_narrow_rows(std::span<const PieceOfRows> /*pieces*/, const char* /*whole*/,
                          int64_t /*rows*/) {
  return 0;
}
#endif

}  // namespace mxnet
