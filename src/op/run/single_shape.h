// SPDX-License-Identifier: Apache-2.0
// The shape of one element, for tensors in scratch memory, which refer to theirs.
#pragma once
#include "base/leaked.h"
#include "base/shape.h"

namespace mxnet {

inline const Shape& single_shape() {
  static Leaked<Shape> shape(Shape{1});
  return *shape;
}

}  // namespace mxnet
