// SPDX-License-Identifier: Apache-2.0
// What draws the mean activation of a unit towards a target.
#pragma once
#include "base/host_device.h"

namespace mxnet {

struct PenaltyParams {
  float sparseness_target, penalty, momentum;

  MX_HOST_DEVICE double moved(double average, double mean) const {
    return momentum * average + (1.0 - momentum) * mean;
  }
  // The derivative of the Kullback-Leibler divergence, times the penalty.
  MX_HOST_DEVICE double pull(double average) const {
    const double target = sparseness_target;
    return penalty * ((1.0 - target) / (1.0 - average) - target / average);
  }
};

}  // namespace mxnet
