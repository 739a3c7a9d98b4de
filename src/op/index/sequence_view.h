// SPDX-License-Identifier: Apache-2.0
// Batches of sequences: an array whose first two dimensions are steps and batch, in either order.
#pragma once
#include <cstdint>

#include "base/shape.h"

namespace mxnet {

struct SequenceView {
  // `axis` is the dimension of the steps: 0 or 1.
  SequenceView(const Shape& shape, int axis)
      : steps(shape[axis]),
        batch(shape[1 - axis]),
        width(shape.size(2, shape.ndim())),
        step_stride((axis == 0 ? batch : 1) * width),
        batch_stride((axis == 0 ? 1 : steps) * width) {}
  int64_t steps, batch, width, step_stride, batch_stride;  // strides in elements
};

}  // namespace mxnet
