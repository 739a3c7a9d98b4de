// SPDX-License-Identifier: Apache-2.0
// Hues of many pixels, by vectors.
#pragma once
#include <cstdint>

#include "op/image/colours.h"

namespace mxnet::image {

// Of `count` pixels of three numbers; y may be x. The same numbers as ChangeHue gives for each.
void turn_hues(const ChangeHue& change, const float* x, float* y, int64_t count);
void turn_hues(const ChangeHue& change, const double* x, double* y, int64_t count);

}  // namespace mxnet::image
