// SPDX-License-Identifier: Apache-2.0
// Products of a Winograd convolution in bfloat16, with sums in float: at twice the rate of float's,
// of weights of half the size.
//
// Transformed tiles lie as those in float do, so that a pair of channels is a number of 32 bits;
// transformed weights as [panel of filters][point][pair of channels][filter of the panel][2].
#pragma once
#include <cstdint>

namespace mxnet {

// Whether this processor has the instructions; multiply_winograd_pairs() must not be called where
// it has not.
bool has_winograd_pairs();

// Filters of a panel: a last one that is not full has zeros.
inline constexpr int64_t kWinogradPairFilters = 32;

// output = input weights at one point, for `tiles` tiles and a panel of filters. `input` has pairs
// of bfloat16, groups of 16 channels `input_line` floats apart; `output` floats, groups of 16
// filters `output_line` apart.
void multiply_winograd_pairs(int64_t tiles, int64_t pairs, const float* input, int64_t input_line,
                             const float* weights, float* output, int64_t output_line);

}  // namespace mxnet
