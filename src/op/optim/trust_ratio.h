// SPDX-License-Identifier: Apache-2.0
// The factor by which LAMB scales a direction: norm of the weight over norm of the direction.
#pragma once
#include <algorithm>

#include "op/kernel.h"
#include "op/update_scalars.h"

namespace mxnet {

inline float trust_ratio(const UpdateScalars& scalars, float weight_norm, float direction_norm) {
  if (scalars.lower_bound >= 0) weight_norm = std::max(weight_norm, scalars.lower_bound);
  if (scalars.upper_bound >= 0) weight_norm = std::min(weight_norm, scalars.upper_bound);
  return weight_norm == 0 || direction_norm == 0 ? 1.0f : weight_norm / direction_norm;
}

// The numbers of a plain step of length lr * ratio along a direction.
inline UpdateScalars scaled_step(float lr, float ratio) {
  UpdateScalars step{};
  step.lr = lr * ratio;
  step.rescale_grad = 1;
  step.clip_gradient = -1;
  return step;
}

}  // namespace mxnet
