// SPDX-License-Identifier: Apache-2.0
// 16 bytes of each piece, which are several rows of it, side by side in two vectors; a table that
// is made for the call says which of their 128 bytes each byte of the result is.
#include "base/narrow_join.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

namespace mxnet {
#if defined(__x86_64__)
namespace {

constexpr int64_t kLane = 16, kMostPieces = 8;
constexpr int64_t kWidest = 8;  // of one row a step it would be a store a row, as by move_pieces

using Steps = std::array<int64_t, kMostPieces>;
using Order = std::array<unsigned char, kMostPieces * kLane>;
// What a call does at each step.
struct Plan {
  bool many;         // more pieces than one vector has lanes
  int64_t together;  // rows: as many as a lane holds of the widest piece
  int64_t room;      // rows that there must be
  int64_t bytes;     // of these rows in the whole
  Steps step{};      // and in each piece; 0 for what is none
  // For each byte of the result which one of the other side it is.
  Order order{};
};

Plan make_plan(std::span<const PieceOfRows> pieces, bool joins) {
  Plan plan{};
  int64_t widest = 0, least = kWidest, row_bytes = 0;
  for (const PieceOfRows& piece : pieces) {
    widest = std::max(widest, piece.width);
    least = std::min(least, piece.width);
    row_bytes += piece.width;
  }
  plan.many = pieces.size() > kMostPieces / 2;
  plan.together = kLane / widest;
  plan.bytes = plan.together * row_bytes;
  // Neither reads nor writes go beyond the rows: those behind may be another thread's.
  const int64_t vectors = (plan.many ? kMostPieces : kMostPieces / 2) * kLane;
  plan.room =
      std::max({plan.together, (kLane + least - 1) / least, (vectors + row_bytes - 1) / row_bytes});
  for (std::size_t i = 0; i < pieces.size(); ++i) plan.step[i] = plan.together * pieces[i].width;
  Order in_lanes{};
  auto next = in_lanes.begin();
  for (int64_t row = 0; row < plan.together; ++row) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const int64_t width = pieces[i].width, first = static_cast<int64_t>(i) * kLane + row * width;
      for (int64_t byte = 0; byte < width; ++byte)
        *next++ = static_cast<unsigned char>(first + byte);
    }
  }
  if (joins) {
    plan.order = in_lanes;
  } else {
    for (std::size_t i = 0; i < static_cast<std::size_t>(plan.bytes); ++i)
      plan.order[in_lanes[i]] = static_cast<unsigned char>(i);
  }
  return plan;
}

// (The steps of many pieces stay in memory: with the places they are more than there are
// registers.)
template <bool kJoins, bool kMany>
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) int64_t move_by_permutes(
    std::span<const PieceOfRows> pieces, char* whole, int64_t rows, const Plan& plan) {
  constexpr int kLanes = kMany ? 8 : 4;
  std::conditional_t<kMany, const Steps&, const Steps> step = plan.step;
  std::array<char*, kLanes> at;
  for (std::size_t i = 0; i < kLanes; ++i)  // lanes without a piece are of no account
    at[i] = pieces[i < pieces.size() ? i : 0].at;
  const __m512i low = _mm512_loadu_si512(plan.order.data());
  const __m512i high = _mm512_loadu_si512(plan.order.data() + 4 * kLane);
  int64_t row = 0;
  const int64_t together = plan.together, room = plan.room, bytes = plan.bytes;
  for (; row + room <= rows; row += together, whole += bytes) {
    __m128i x[kLanes];  // (a type with attributes is no argument of a template)
    __m512i a, b;
    if constexpr (kJoins) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kLanes; ++i) {
        x[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at[i]));
        at[i] += step[i];
      }
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
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kLanes; ++i) at[i] += step[i];
    }
  }
  return row;
}

int64_t move_narrow_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows,
                         bool joins) {
  int64_t widest = 0;
  for (const PieceOfRows& piece : pieces) widest = std::max(widest, piece.width);
  if (!moves_narrow_rows(pieces.size(), widest)) return 0;
  const Plan plan = make_plan(pieces, joins);
  const auto move =
      joins ? (plan.many ? move_by_permutes<true, true> : move_by_permutes<true, false>)
            : (plan.many ? move_by_permutes<false, true> : move_by_permutes<false, false>);
  return move(pieces, whole, rows, plan);
}

}  // namespace

bool moves_narrow_rows(std::size_t pieces, int64_t widest) {
  return simd_features().avx512vbmi && pieces <= kMostPieces && widest <= kWidest;
}
int64_t join_narrow_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows) {
  return move_narrow_rows(pieces, whole, rows, true);
}
int64_t split_narrow_rows(std::span<const PieceOfRows> pieces, const char* whole, int64_t rows) {
  return move_narrow_rows(pieces, const_cast<char*>(whole), rows, false);  // which is only read
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
