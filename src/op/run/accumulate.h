// SPDX-License-Identifier: Apache-2.0
// target += addend, element for element: the "add" request of every operator.
#pragma once
#include "op/kernel.h"

namespace mxnet {

// REQUIRES: equal shapes and types.
void accumulate(const Tensor& target, const Tensor& addend);

}  // namespace mxnet
