// SPDX-License-Identifier: Apache-2.0
// Gradients of layers that are a product of data and weight plus a bias. Such a layer and its two
// gradients are one trilinear form, so that gradients of any order are these operators again:
//   y = F(x, w) + b,   dx = X(dy, w),   dw = W(dy, x),   db = sum(dy).
// `_backward_<layer>` computes what its parameter `wanted` names: one call shares what dx and dw
// both need.
#pragma once
#include <array>
#include <string>

#include "op/grad.h"

namespace mxnet {

// Bits of `wanted`, in the order of the outputs.
enum Wanted : int32_t { kWantData = 1, kWantWeight = 2, kWantBias = 4 };
inline bool wants(int32_t wanted, Wanted what) { return (wanted & what) != 0; }

// Rules for `layer` (inputs data, weight[, bias]) and for `_backward_<layer>` (inputs gradient of
// the output, data, weight) with this `wanted`.
Gradients trilinear_gradient(const std::string& layer, Grad& grad);
Gradients trilinear_backward_gradient(const std::string& layer, int32_t wanted, Grad& grad);

}  // namespace mxnet
