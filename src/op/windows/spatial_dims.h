// SPDX-License-Identifier: Apache-2.0
// Geometries have three spatial dimensions, whatever the arrays have: missing ones come first.
#pragma once
#include <cstddef>

namespace mxnet {

// fn(i, d, axis) for dimension i of an array's `spatial`: d of the geometry's three, and its axis.
template <class F>
void for_each_spatial_dim(int spatial, bool channels_last, const F& fn) {
  for (int i = 0; i < spatial; ++i) {
    const int from_front = 3 - spatial + i;
    fn(i, static_cast<std::size_t>(from_front), (channels_last ? 1 : 2) + i);
  }
}

}  // namespace mxnet
