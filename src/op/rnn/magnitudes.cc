// SPDX-License-Identifier: Apache-2.0
// Looks at all numbers of a layer.
#include "op/rnn/magnitudes.h"

#include <cmath>

namespace mxnet::rnn {
Magnitudes magnitudes(const RnnParams& params, const Extent& extent,
                      const ForwardArrays<float>& arrays, int64_t layer, int direction,
                      const float* x) {
  const ParamLayout layout(params, extent.input_size);
  const int64_t inputs = layout.input_size(layer), out = params.out(), rows = layout.rows();
  const int64_t offset = layout.input_weight(layer, direction);
  float looked_at[2];
  const auto look = [&](float* to) {
    to[0] = largest_of(arrays.params + offset, rows * inputs);
    to[1] = largest_of(arrays.params + layout.state_weight(layer, direction), rows * out);
  };
  // A layer's own place; the parameters may be of another type than float.
  const WeightKey key{
      arrays.home.place(offset), inputs, params.hidden(), out, params.gates(), sizeof(float),
      WeightForm::kLargest};
  const auto kept = kept_weights(arrays.home, key, sizeof(looked_at),
                                 [&](std::byte* to) { look(reinterpret_cast<float*>(to)); });
  if (kept == nullptr) look(looked_at);
  const float* most = kept == nullptr ? looked_at : reinterpret_cast<const float*>(kept.get());
  const int64_t at = (layer * params.directions() + direction) * extent.batch;
  const float first = largest_of(arrays.state + at * out, extent.batch * out);
  const int64_t cells = params.has_cell() ? extent.batch * params.hidden() : 0;
  // Biases of the input and of the state follow each other.
  return {.input_weight = most[0],
          .state_weight = most[1],
          .input = x == nullptr ? 1 : largest_of(x, extent.steps * extent.batch * inputs),
          .state = first <= 1 ? 1 : first,  // NaN stays
          .bias = largest_of(arrays.params + layout.input_bias(layer, direction), 2 * rows),
          .cell = cells == 0 ? 0 : largest_of(arrays.cell + at * params.hidden(), cells)};
}

bool may_be_mixed(const Magnitudes& most, int64_t inputs, int64_t units) {
  return std::isfinite(most.bias) && std::isfinite(most.cell) &&
         small_enough(most.input_weight, most.input, inputs) &&
         small_enough(most.state_weight, most.state, units);
}

bool small_enough(float left, float right, int64_t k) {
  // Sums of k such products, of any sign, are about this large at most. An error of two levels of
  // Strassen's method is then some 1e-5, and more often 1e-6; of products of digits 1e-6.
  constexpr float kLargest = 32;
  // Some of either are added before they are multiplied: those sums stay finite too.
  constexpr float kMostAdded = 1e37F;
  return left <= kMostAdded && right <= kMostAdded &&
         left * right * std::sqrt(static_cast<float>(k)) <= kLargest;
}

}  // namespace mxnet::rnn
