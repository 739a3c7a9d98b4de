// SPDX-License-Identifier: Apache-2.0
// The mode of shapes, see base/numpy_shape.h.
#include "base/numpy_shape.h"

#include "c_api/guard.h"
#include "mxnet/c_api.h"

using namespace mxnet;
using namespace mxnet::c_api;

int MXIsNumpyShape(int* curr) {
  return guarded([&] {
    require(curr, "MXIsNumpyShape", "curr");
    *curr = static_cast<int>(numpy_shape());
  });
}

int MXSetIsNumpyShape(int is_np_shape, int* prev) {
  return guarded([&] {
    require(prev, "MXSetIsNumpyShape", "prev");
    *prev = static_cast<int>(set_numpy_shape(is_np_shape));
  });
}
