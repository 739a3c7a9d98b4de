// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators between positions and indices of places.
#pragma once
#include <optional>

#include "base/shape.h"

namespace mxnet {

struct RavelParams {
  Shape shape;
};
struct IndexArrayParams {
  std::optional<Shape> axes;
};

}  // namespace mxnet
