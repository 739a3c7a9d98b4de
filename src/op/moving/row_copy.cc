// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of row_copy.h for each instruction set.
#include "op/moving/row_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/narrow_join.h"
#include "base/simd.h"
#include "op/inline_vector.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

// Each piece is moved as so many bytes, the first of which are its own: what is too much is written
// over by what comes next, and of the last rows, behind which nothing comes, exactly.
template <bool kJoins, int64_t kBytes>
void move_pieces(std::span<const PieceOfRows> pieces, char* whole, int64_t rows) {
  int64_t least = kBytes;
  for (const PieceOfRows& piece : pieces) least = std::min(least, piece.width);
  const int64_t exact = std::max<int64_t>(0, rows - (kBytes + least - 1) / least);
  for (int64_t row = 0; row < rows; ++row) {
    for (const PieceOfRows& piece : pieces) {
      char* const there = piece.at + row * piece.width;
      char* const to = kJoins ? whole : there;
      const char* const from = kJoins ? there : whole;
      if (row < exact) {
        std::memcpy(to, from, static_cast<std::size_t>(kBytes));
      } else {
        std::memcpy(to, from, static_cast<std::size_t>(piece.width));
      }
      whole += piece.width;
    }
  }
}

template <bool kJoins>
void move_rows_of_pieces(std::span<const PieceOfRows> pieces, char* whole, int64_t rows) {
  int64_t most = 0;
  for (const PieceOfRows& piece : pieces) most = std::max(most, piece.width);
  (most <= 16   ? move_pieces<kJoins, 16>
   : most <= 32 ? move_pieces<kJoins, 32>
                : move_pieces<kJoins, kWidestPiece>)(pieces, whole, rows);
}

// What is left behind the first `done` rows.
template <bool kJoins>
void move_rows_behind(int64_t done, std::span<const PieceOfRows> pieces, char* whole,
                      int64_t rows) {
  if (done == 0) return move_rows_of_pieces<kJoins>(pieces, whole, rows);
  InlineVector<PieceOfRows, 8> rest;
  for (const PieceOfRows& piece : pieces) {
    rest.push_back({piece.at + done * piece.width, piece.width});
    whole += done * piece.width;
  }
  move_rows_of_pieces<kJoins>(rest.span(), whole, rows - done);
}

#define MX_SIMD_FILE "op/moving/row_copy.inc"
#include "base/simd_targets.h"

}  // namespace

void copy_rows(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t width,
               int64_t rows) {
  MX_SIMD_CALL(copy_rows)(in, in_step, out, out_step, width, rows);
}

bool repeat_rows(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t width,
                 int64_t count, int64_t rows) {
  return MX_SIMD_CALL_FOR_TRAFFIC(repeat_rows)(in, in_step, out, out_step, width, count, rows);
}

void join_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows) {
  move_rows_behind<true>(join_narrow_rows(pieces, whole, rows), pieces, whole, rows);
}
void split_rows(std::span<const PieceOfRows> pieces, const char* whole, int64_t rows) {
  move_rows_behind<false>(split_narrow_rows(pieces, whole, rows), pieces, const_cast<char*>(whole),
                          rows);  // which is only read
}

void pack_pieces(const char* in, int64_t step, char* out, int64_t width, int64_t blocks,
                 int64_t parts) {
  constexpr int64_t kVector = 16;
  const char *const in_end = in + blocks * step, *const out_end = out + blocks * parts * width;
  for (int64_t part = 0; part < parts; ++part, in += width) {
    if (width >= kVector) {
      copy_rows(in, step, out, width, width, blocks);
      out += blocks * width;
      continue;
    }
    const char* from = in;
    for (int64_t block = 0; block < blocks; ++block, from += step, out += width) {
      // A whole vector, as long as it lies in both: what is too much is written over.
      if (in_end - from >= kVector && out_end - out >= kVector) {
        std::memcpy(out, from, kVector);
      } else {
        std::memcpy(out, from, static_cast<std::size_t>(width));
      }
    }
  }
}

void space_rows(const char* in, char* out, int64_t width, int64_t rows, const char* pattern,
                int64_t gap) {
  MX_SIMD_CALL(space_rows)(in, out, width, rows, pattern, gap);
}

}  // namespace mxnet
