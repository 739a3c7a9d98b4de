// SPDX-License-Identifier: Apache-2.0
// Choosing between two arrays, element by element.
#pragma once
#include "op/kernel.h"

namespace mxnet {

// out = condition ? x : y, each broadcast to the shape of `out`; the condition holds where it is
// not zero, whatever its type. `x` and `y` are of the type of `out`.
void choose(const Tensor& condition, const Tensor& x, const Tensor& y, const Tensor& out,
            KernelContext& context);

}  // namespace mxnet
