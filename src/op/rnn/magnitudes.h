// SPDX-License-Identifier: Apache-2.0
// How large the numbers are that a layer multiplies: what decides whether its products may be made
// in ways whose error is one of the largest numbers.
#pragma once
#include <cstdint>

#include "op/products/magnitudes.h"
#include "op/rnn/network.h"

namespace mxnet::rnn {

struct Magnitudes {
  float input_weight, state_weight, input;
  float state;  // of all steps, where a state stays within 1 or its first number
  float bias, cell;
};
// Of a direction of a layer whose input is x, or, where that is null, numbers of 1 at most. Those
// of the weights are kept as packed weights are.
Magnitudes magnitudes(const RnnParams& params, const Extent& extent,
                      const ForwardArrays<float>& arrays, int64_t layer, int direction,
                      const float* x);
// Whether a layer's products may be made in such ways: nothing is, and no state becomes, infinite
// or NaN, which would reach other numbers, and none is so large that it hides others. `inputs` and
// `units` are multiplied with a weight each.
bool may_be_mixed(const Magnitudes& most, int64_t inputs, int64_t units);

// Whether errors that are a small part of sums of k products of numbers as large as these are a
// small part of what moves a gate, for which 1 is much. False for NaN, infinities, and numbers so
// large that a sum of ten is infinite.
bool small_enough(float left, float right, int64_t k);

}  // namespace mxnet::rnn
