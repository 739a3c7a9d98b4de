// SPDX-License-Identifier: Apache-2.0
// Parameters of the weighted mean.
#pragma once
#include <optional>

#include "op/reducing/axes.h"

namespace mxnet {

struct AverageParams {
  std::optional<Shape> axis;
  bool returned, weighted;
  AxisChoice choice() const { return {axis, false, false, AxisStyle::kNumpy}; }
};

// Weights of the array's shape, or a list of them along the one axis that is reduced.
inline bool is_list(const Shape& data, const Shape& weights) {
  return weights.ndim() == 1 && data.ndim() != 1;
}

}  // namespace mxnet
