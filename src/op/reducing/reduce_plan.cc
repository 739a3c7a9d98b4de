// SPDX-License-Identifier: Apache-2.0
// Merging of dimensions.
#include "op/reducing/reduce_plan.h"

namespace mxnet {

ReducePlan::ReducePlan(const Shape& shape, AxisSet reduced) {
  struct Group {
    int64_t size;
    bool reduced;
  };
  std::array<Group, Shape::kMaxDims> groups;
  std::size_t count = 0;
  for (int i = 0; i < shape.ndim(); ++i) {
    if (shape[i] == 1) continue;
    const bool is_reduced = (reduced >> i & 1) != 0;
    if (count > 0 && groups[count - 1].reduced == is_reduced) {
      groups[count - 1].size *= shape[i];
    } else {
      groups[count++] = {shape[i], is_reduced};
    }
  }
  if (count == 0) return;
  inner_reduced_ = groups[count - 1].reduced;
  run_ = groups[count - 1].size;
  std::array<int64_t, Shape::kMaxDims> strides;
  int64_t stride = run_;
  for (std::size_t i = count - 1; i-- > 0;) {
    strides[i] = stride;
    stride *= groups[i].size;
  }
  for (std::size_t i = 0; i + 1 < count; ++i)
    (groups[i].reduced ? reduced_ : kept_).add({groups[i].size, strides[i]});
}

}  // namespace mxnet
