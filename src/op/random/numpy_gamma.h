// SPDX-License-Identifier: Apache-2.0
// Gamma numbers as the NumPy front end has always drawn them: all of an array together, in rounds.
#pragma once
#include <cstdint>

#include "op/generators/random_draws.h"

namespace mxnet {

// Element i becomes a number of shape `shapes[i]` and scale 1; NaN where that is no shape.
// `uniforms` is room for two numbers an element.
void draw_gamma_in_rounds(Draws& draws, const float* shapes, int64_t size, double* uniforms,
                          double* numbers);

}  // namespace mxnet
