// SPDX-License-Identifier: Apache-2.0
// Sums are made block by block of units, so that the panels of a block stay in the cache, and go
// past it: the products read them much later.
#include "op/rnn/strassen_weights.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/stream_copy.h"
#include "op/products/packed_gemm.h"
#include "op/rnn/strassen.h"
#include "op/run/parallel.h"

namespace mxnet::rnn {
namespace {

constexpr int64_t kGates = 4;

}  // namespace

StrassenWeights::StrassenWeights(const RnnParams& params, int64_t input_size,
                                 const ForwardArrays<float>& arrays, int64_t layer, int direction)
    : layout_(params, input_size),
      layer_(layer),
      direction_(direction),
      inputs_(layout_.input_size(layer)),
      hidden_(params.hidden()),
      columns_(strassen::columns()),
      arrays_(arrays) {}

bool StrassenWeights::find_kept() {
  // A layer's own place; the parameters may be of another type than float.
  const WeightKey key{arrays_.home.place(layout_.input_weight(layer_, direction_)),
                      inputs_,
                      hidden_,
                      hidden_,
                      kGates,
                      sizeof(float),
                      WeightForm::kSums};
  kept_ = kept_weights(arrays_.home, key, static_cast<std::size_t>(sums_size()) * sizeof(float),
                       [&](std::byte* to) { sum_weights(reinterpret_cast<float*>(to)); });
  sums_ = reinterpret_cast<const float*>(kept_.get());
  return kept_ != nullptr;
}

int64_t StrassenWeights::own_size() const {
  return kGates * hidden_ + (kept_ != nullptr ? 0 : sums_size());
}

void StrassenWeights::prepare(float* own) {
  sum_biases(own);
  bias_ = own;
  if (kept_ == nullptr) {
    float* const sums = own + kGates * hidden_;
    sum_weights(sums);
    sums_ = sums;
  }
  state_ = sums_ + strassen::input_sums(inputs_, hidden_);
}

int64_t StrassenWeights::sums_size() const {
  return strassen::input_sums(inputs_, hidden_) + state_factors(hidden_);
}

// Numbers that the right factors of the state's products take, of some units.
int64_t StrassenWeights::state_factors(int64_t units) const {
  return strassen::gains_on_state() ? strassen::state_sums(hidden_, units)
                                    : kGates * hidden_ * units;
}

void StrassenWeights::sum_weights(float* to) const {
  const float* const input = arrays_.params + layout_.input_weight(layer_, direction_);
  const float* const state = arrays_.params + layout_.state_weight(layer_, direction_);
  const int64_t blocks = hidden_ / columns_;
  const int64_t input_block = strassen::input_sums(inputs_, columns_);
  const int64_t state_block = state_factors(columns_);
  float* states = to + blocks * input_block;
  parallel_for(
      blocks, static_cast<double>(input_block + state_block),
      [&](int64_t first, int64_t last) {
        std::vector<float> panels(
            static_cast<std::size_t>(kGates * columns_ * std::max(inputs_, hidden_)));
        for (int64_t b = first; b < last; ++b) {
          pack(input, inputs_, b, panels.data());
          strassen::sum_input_weights(panels.data(), inputs_, to + b * input_block);
          pack(state, hidden_, b, panels.data());
          if (strassen::gains_on_state())
            strassen::sum_state_weights(panels.data(), hidden_, states + b * state_block);
          else
            std::copy_n(panels.data(), state_block, states + b * state_block);
        }
        finish_stream_copies();
      },
      1);
}

// A block of units of all gates.
void StrassenWeights::pack(const float* weights, int64_t k, int64_t block, float* panels) const {
  for (int64_t g = 0; g < kGates; ++g) {
    const float* rows = weights + (g * hidden_ + block * columns_) * k;
    packed_gemm::pack<float>({rows, 1, k}, k, columns_, 0, columns_, panels + g * columns_ * k);
  }
}

void StrassenWeights::sum_biases(float* sums) const {
  const float* const input = arrays_.params + layout_.input_bias(layer_, direction_);
  const float* const state = arrays_.params + layout_.state_bias(layer_, direction_);
  for (int64_t unit = 0; unit < hidden_; unit += columns_) {
    for (int64_t i = unit; i < kGates * hidden_; i += hidden_) {
      for (int64_t j = i; j < i + columns_; ++j) *sums++ = input[j] + state[j];
    }
  }
}

}  // namespace mxnet::rnn
