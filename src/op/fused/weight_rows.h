// SPDX-License-Identifier: Apache-2.0
// Gradients of weights leave their primitives in squares of channels by filters; parameters are
// rows. oneDNN's own step between the two takes longer than memory does (docs/onednn.md).
#pragma once
#include <cstddef>
#include <cstdint>

namespace mxnet {

struct WeightSquares {
  int64_t filters, channels, pixels;  // pixels: of a kernel
  std::size_t element_bytes;
};
// Filters and channels of a square on this CPU: a vector of float32 of each. 0 where nothing here
// is faster.
int64_t weight_square();
// Elements of 2 or 4 bytes in whole squares, whose rows are whole vectors.
bool turns_to_rows(const WeightSquares& weight);
// rows[filter][channel][pixel] of squares[filter / n][channel / n][pixel][channel % n][filter % n].
// REQUIRES: turns_to_rows(weight).
void weight_to_rows(const WeightSquares& weight, const void* squares, void* rows);

}  // namespace mxnet
