// SPDX-License-Identifier: Apache-2.0
// Gradients of the reductions, shared by the operators of both front ends.
#pragma once
#include "op/reduce/spread.h"

namespace mxnet {

// dy / y, and dy itself where y is zero: there roots have a corner, of which the gradient is zero.
Value over_root(const Value& dy, const Value& y);

Gradients sum_gradient(const AxisChoice& choice, Grad& grad);
Gradients mean_gradient(const AxisChoice& choice, Grad& grad);
Gradients prod_gradient(const AxisChoice& choice, Grad& grad);
// Of max and min: every element that equals the result takes the whole gradient.
Gradients extremum_gradient(const AxisChoice& choice, Grad& grad);
Gradients nansum_gradient(const AxisChoice& choice, Grad& grad);
Gradients nanprod_gradient(const AxisChoice& choice, Grad& grad);
Gradients abs_norm_gradient(const AxisChoice& choice, Grad& grad);
Gradients root_norm_gradient(const AxisChoice& choice, Grad& grad);
Gradients square_sum_gradient(const AxisChoice& choice, Grad& grad);

}  // namespace mxnet
