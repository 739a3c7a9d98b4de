// SPDX-License-Identifier: Apache-2.0
// Gamma numbers as the NumPy front end has always drawn them: all of an array together, in rounds.
#pragma once
#include <cstdint>

#include "op/generators/mt19937.h"

namespace mxnet {

// Element i becomes a number of shape `shapes[i]` and scale 1; NaN where that is no shape. `words`
// is room for four words and `waiting` for one place an element.
void draw_gamma_in_rounds(Mt19937& stream, const float* shapes, int64_t size, uint32_t* words,
                          int64_t* waiting, double* numbers);

}  // namespace mxnet
