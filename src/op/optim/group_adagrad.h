// SPDX-License-Identifier: Apache-2.0
// AdaGrad with one history element a row, for the host and for kernels: the mean of the squares of
// a row's gradients goes to its history.
#pragma once
#include <cmath>

#include "base/host_device.h"
#include "op/optim/update_rules.h"

namespace mxnet {

// C: the type that is computed in.
template <class C>
struct GroupAdaGrad {
  C lr, rescale, epsilon, limit;

  explicit GroupAdaGrad(const UpdateScalars& p)
      : lr(p.lr),
        rescale(p.rescale_grad),
        epsilon(p.epsilon),
        limit(update_rules::limit_or_none<float>(p.clip_gradient, p.clip_gradient < 0)) {}

  MX_HOST_DEVICE C scaled(C gradient) const {
    return update_rules::clip(rescale * gradient, limit);
  }
  MX_HOST_DEVICE C rate(C history) const { return lr / std::sqrt(history + epsilon); }
};

}  // namespace mxnet
