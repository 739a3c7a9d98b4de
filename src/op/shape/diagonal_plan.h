// SPDX-License-Identifier: Apache-2.0
// Where the diagonal of two dimensions lies.
#pragma once
#include <algorithm>

#include "op/shape/axes.h"

namespace mxnet {

struct DiagonalPlace {
  int axis1, axis2;  // different
  int64_t offset;    // above (positive) or below the main one

  // Negative where there is none, not even an empty one.
  int64_t length(const Shape& full) const {
    return std::min(full[axis1] + std::min<int64_t>(offset, 0),
                    full[axis2] - std::max<int64_t>(offset, 0));
  }
  // Dimensions of the diagonals of `full`: those that are not the two, then `length`.
  Shape shape(const Shape& full, int64_t length) const {
    Shape result = Shape::scalar();
    for (int i = 0; i < full.ndim(); ++i)
      if (i != axis1 && i != axis2) result.push_back(full[i]);
    result.push_back(length);
    return result;
  }
  // From an array to its diagonals. `spread`: to one element a diagonal, for what is summed.
  StridedPlan plan(const Shape& full, bool spread = false) const {
    const int64_t elements = std::max<int64_t>(length(full), 0);
    const RowMajorSteps steps(full), out_steps(shape(full, spread ? 1 : elements));
    StridedPlan plan;
    plan.in_offset = elements == 0 ? 0
                     : offset >= 0 ? offset * steps[axis2]
                                   : -offset * steps[axis1];
    for (int i = 0, o = 0; i < full.ndim(); ++i)
      if (i != axis1 && i != axis2) plan.add(full[i], steps[i], out_steps[o++]);
    plan.add(elements, steps[axis1] + steps[axis2], spread ? 0 : 1);
    return plan;
  }
};

}  // namespace mxnet
