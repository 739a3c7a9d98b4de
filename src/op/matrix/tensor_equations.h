// SPDX-License-Identifier: Apache-2.0
// Parameters of equations between tensors, and how their dimensions become those of a matrix, for
// any device.
#pragma once
#include <algorithm>
#include <vector>

#include "base/shape.h"

namespace mxnet {

struct TensorsolveParams {
  Shape a_axes;
};

// The dimensions of a with `axes` at the end, in the order that tensorsolve reads them.
inline std::vector<int> axes_moved_last(int ndim, const Shape& axes) {
  std::vector<int> order, last;
  for (const int64_t axis : axes.dims())
    last.push_back(normalize_axis(axis, ndim, "_npi_tensorsolve"));
  for (int i = 0; i < ndim; ++i) {
    if (std::find(last.begin(), last.end(), i) == last.end()) order.push_back(i);
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

}  // namespace mxnet
