// SPDX-License-Identifier: Apache-2.0
// Splits pieces over threads, and chooses how each thread moves its part.
#include "op/moving/long_copy.h"

#include <algorithm>

#include "base/owned_lines.h"
#include "base/stream_copy.h"
#include "op/run/parallel.h"
#include "op/run/sweep.h"

namespace mxnet {
namespace {

constexpr double kCostOfByte = 0.125;

int64_t bytes_of(std::span<const LongPiece> pieces) {
  int64_t bytes = 0;
  for (const LongPiece& piece : pieces) bytes += piece.bytes;
  return bytes;
}

// move(piece) for what of the pieces lies in [first, last) of all their bytes, from either end.
template <class F>
void walk(std::span<const LongPiece> pieces, int64_t first, int64_t last, bool back,
          const F& move) {
  int64_t begin = back ? bytes_of(pieces) : 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const LongPiece& piece = pieces[back ? pieces.size() - 1 - i : i];
    if (back) begin -= piece.bytes;
    const int64_t from = std::max<int64_t>(0, first - begin);
    const int64_t to = std::min(piece.bytes, last - begin);
    if (from < to) move(LongPiece{piece.from + from, piece.to + from, to - from});
    if (!back) begin += piece.bytes;
  }
}

}  // namespace

void copy_pieces(std::span<const LongPiece> pieces, int64_t whole) {
  const int64_t bytes = bytes_of(pieces);
  // What caches hold while several threads read and write it is no part of a larger whole.
  const bool fits =
      2 * whole < bytes_past_caches(threads_for(bytes, kCostOfByte)) && !owns_lines(whole);
  parallel_for(
      bytes, kCostOfByte,
      [&](int64_t first, int64_t last) {
        const Sweep sweep(fits ? 2 * (last - first) : 0);
        walk(pieces, first, last, sweep.back(), [&](const LongPiece& piece) {
          const auto length = static_cast<std::size_t>(piece.bytes);
          if (sweep.back()) return copy_backwards(piece.to, piece.from, length);
          copy_part(piece.to, piece.from, length, fits ? length : static_cast<std::size_t>(whole));
        });
      },
      4096);
}

void copy_block(const void* from, void* to, std::size_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  const LongPiece piece{static_cast<const char*>(from), static_cast<char*>(to), count};
  copy_pieces({&piece, 1}, count);
}

}  // namespace mxnet
