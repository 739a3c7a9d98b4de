// SPDX-License-Identifier: Apache-2.0
// The gradient of the hinge loss of one class against the others.
#pragma once
#include "base/host_device.h"

namespace mxnet {

struct SvmParams {
  float margin, regularization_coefficient;
  bool use_linear;
};

// The score of the label should be above the margin, the others below its negative.
template <class C>
MX_HOST_DEVICE C svm_gradient(const SvmParams& params, C x, bool is_label) {
  const C margin = static_cast<C>(params.margin);
  const C coefficient = static_cast<C>(params.regularization_coefficient);
  const C missing = is_label ? margin - x : margin + x;
  const C size = params.use_linear ? coefficient : C(2) * coefficient * missing;
  return missing > C(0) ? (is_label ? -size : size) : C(0);
}

}  // namespace mxnet
