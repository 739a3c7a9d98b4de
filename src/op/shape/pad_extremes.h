// SPDX-License-Identifier: Apache-2.0
// Padding with the largest or smallest element along each dimension.
#pragma once
#include <vector>

#include "op/shape/pad_maps.h"

namespace mxnet {

// REQUIRES: no dimension that is padded is empty.
void pad_extremes(const std::vector<PadWidth>& widths, bool largest, const Tensor& in,
                  const Tensor& out, KernelContext& context);

}  // namespace mxnet
