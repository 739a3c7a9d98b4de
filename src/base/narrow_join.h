// SPDX-License-Identifier: Apache-2.0
// Rows joined out of pieces of a few bytes by permutes of whole vectors.
#pragma once
#include <cstdint>
#include <span>

namespace mxnet {

// Pieces that stand side by side in each row of a whole: `width` bytes at `at` for the first row,
// those of the next row behind them. 0 < width.
struct PieceOfRows {
  char* at;
  int64_t width;
};

// Joins the first rows of `rows` and returns how many: none where the processor does not permute
// bytes of 512 bits, or pieces are too many or too wide; all but a few otherwise.
int64_t join_narrow_rows(std::span<const PieceOfRows> pieces, char* whole, int64_t rows);

}  // namespace mxnet
