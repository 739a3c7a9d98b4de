// SPDX-License-Identifier: Apache-2.0
// What the products of one LSTM direction read besides its samples: sums of blocks of its weights,
// as strassen.h wants them, and its biases.
#pragma once
#include <cstdint>
#include <memory>

#include "op/rnn/network.h"
#include "op/rnn/weight_cache.h"

namespace mxnet::rnn {

// Used by the thread of the kernel until prepare() has returned; then by any.
class StrassenWeights {
 public:
  // `arrays` stays as long as this does.
  StrassenWeights(const RnnParams& params, int64_t input_size, const ForwardArrays<float>& arrays,
                  int64_t layer, int direction);

  // Takes the sums that outlive the call, if it keeps any; false without.
  bool find_kept();
  // Numbers that prepare() needs at `own`.
  int64_t own_size() const;
  // Makes what find_kept() has not found.
  void prepare(float* own);

  // Right factors of the products of the input, then of the state.
  const float* input() const { return sums_; }
  const float* state() const { return state_; }
  // Of input and state together, in the order of the gates of a row: block by block those of each
  // gate.
  const float* bias() const { return bias_; }

 private:
  int64_t sums_size() const;
  int64_t state_factors(int64_t units) const;
  void sum_weights(float* to) const;
  void pack(const float* weights, int64_t k, int64_t block, float* panels) const;
  void sum_biases(float* sums) const;

  const ParamLayout layout_;
  const int64_t layer_;
  const int direction_;
  const int64_t inputs_, hidden_, columns_;
  const ForwardArrays<float>& arrays_;
  std::shared_ptr<const std::byte> kept_;  // the sums, where a cache has them
  const float *sums_ = nullptr, *state_ = nullptr, *bias_ = nullptr;
};

}  // namespace mxnet::rnn
