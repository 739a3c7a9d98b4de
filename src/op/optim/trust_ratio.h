// SPDX-License-Identifier: Apache-2.0
// The factor by which LAMB scales a direction: norm of the weight over norm of the direction.
#pragma once
#include "base/host_device.h"
#include "op/params/update_scalars.h"

namespace mxnet {

// A negative bound is none.
MX_HOST_DEVICE inline float trust_ratio(float lower_bound, float upper_bound, float weight_norm,
                                        float direction_norm) {
  if (lower_bound >= 0 && weight_norm < lower_bound) weight_norm = lower_bound;
  if (upper_bound >= 0 && weight_norm > upper_bound) weight_norm = upper_bound;
  return weight_norm == 0 || direction_norm == 0 ? 1.0f : weight_norm / direction_norm;
}

inline float trust_ratio(const UpdateScalars& scalars, float weight_norm, float direction_norm) {
  return trust_ratio(scalars.lower_bound, scalars.upper_bound, weight_norm, direction_norm);
}

// The numbers of a plain step along a direction, whose length is the rate times the ratio.
inline UpdateScalars scaled_step(const UpdateScalars& scalars, float ratio) {
  UpdateScalars step{};
  step.lr = scalars.lr * ratio;
  step.lower_bound = scalars.lower_bound;
  step.upper_bound = scalars.upper_bound;
  step.rescale_grad = 1;
  step.clip_gradient = -1;
  return step;
}

}  // namespace mxnet
