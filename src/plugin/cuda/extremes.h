// SPDX-License-Identifier: Apache-2.0
// The least and the greatest element of an array, by the reduction primitive.
#pragma once
#include "op/kernel.h"
#include "op/reducing/evaluate.h"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {

// Two numbers of the array's type T, on the device; zeros of an empty array.
template <class T>
T* extremes(const Tensor& in, KernelContext& context) {
  static const Shape kOne{1};
  NativeStream* const stream = context.stream()->native();
  T* const ends = context.workspace_of<T>(2);
  for (int i = 0; i < 2; ++i) {
    const Tensor end{ends + i, &kOne, in.dtype};
    if (in.size() == 0)
      fill(stream, end, 0);
    else
      reduce(stream, {.reduction = i == 0 ? Reduction::min : Reduction::max, .wide = false}, in,
             ~uint32_t{0}, end, context);
  }
  return ends;
}

}  // namespace cuda
}  // namespace mxnet
