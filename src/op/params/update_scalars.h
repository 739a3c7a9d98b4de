// SPDX-License-Identifier: Apache-2.0
// The numbers that update rules take, for all optimizers: each operator declares those it has.
#pragma once
#include <cstdint>

namespace mxnet {

struct UpdateScalars {
  float lr, wd, eta;
  float rescale_grad;
  float clip_gradient;  // negative = gradients are not clipped
  float clip_weights;   // not positive = weights are not clipped
  float momentum, wd_lh;
  float beta1, beta2, gamma1, gamma2, epsilon;
  double ftml_epsilon;
  // Of rules that take 1 - decay: in float it would be wrong in the fifth digit for 0.999.
  double decay1, decay2;
  double grad_share, mean_share;
  float lamda1, beta;
  int32_t t;  // number of the step, from 1
  bool bias_correction;
  bool lazy_update;
  float lower_bound, upper_bound;  // negative = unbounded
};

}  // namespace mxnet
