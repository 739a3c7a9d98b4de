// SPDX-License-Identifier: Apache-2.0
// LARS: the learning rate of one layer out of the norms of its weight and gradient.
#pragma once
#include <cmath>

#include "base/host_device.h"

namespace mxnet {

struct LarsParams {
  float eta, eps, rescale_grad;
};

// A layer of zeros, or without gradient, keeps its rate.
template <class C>
MX_HOST_DEVICE inline C lars_rate(const LarsParams& p, C lr, C weight_sum, C grad_sum, C wd) {
  const C weight_norm = std::sqrt(weight_sum);
  const C grad_norm = std::sqrt(grad_sum) * C(p.rescale_grad);
  const C scale = C(p.eta) * weight_norm / (grad_norm + wd * weight_norm + C(p.eps));
  return weight_norm > 0 && grad_sum > 0 ? lr * scale : lr;
}

}  // namespace mxnet
