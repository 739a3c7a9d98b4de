// SPDX-License-Identifier: Apache-2.0
// Gradients of weights leave their primitives in squares of channels by filters; parameters are
// rows. oneDNN's own step between the two takes two to three times as long as memory does.
#pragma once
#include <cstdint>

namespace mxnet {

// Both are multiples of weight_square().
struct WeightSquares {
  int64_t filters, channels, pixels;  // pixels: of a kernel
};
// Filters and channels of a square on this CPU: a vector of each. 0 where nothing here is faster.
int64_t weight_square();
// rows[filter][channel][pixel] of squares[filter / n][channel / n][pixel][channel % n][filter % n].
void weight_to_rows(const WeightSquares& weight, const float* squares, float* rows);

}  // namespace mxnet
