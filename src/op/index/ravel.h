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

  // The p-th of them. Numbers out of range wrap around, as in 1.x: published Transformers ask for
  // axis 1 of one dimension.
  // REQUIRES: ndim > 0.
  int axis(int p, int ndim) const {
    if (!axes) return p;
    const int64_t rest = (*axes)[p] % ndim;
    return static_cast<int>(rest < 0 ? rest + ndim : rest);
  }
};

}  // namespace mxnet
