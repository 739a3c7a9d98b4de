// SPDX-License-Identifier: Apache-2.0
// Rows joined out of pieces of a few bytes, and split into them, by permutes of whole vectors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace mxnet {

// Pieces that stand side by side in each row of a whole: `width` bytes at `at` for the first row,
// those of the next row behind them. 0 < width.
struct PieceOfRows {
  char* at;
  int64_t width;
};

// Whether rows of so many pieces are moved by the functions below at all: where the processor
// permutes bytes of 512 bits, and pieces are few and narrow.
bool moves_narrow_rows(std::size_t pieces, int64_t widest);
// Join or split the first rows of `rows` and return how many: none, or all but a few.
int64_t join_narrow_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows);
int64_t split_narrow_rows(std::span<const PieceOfRows> pieces, const char* whole, int64_t rows);

}  // namespace mxnet
