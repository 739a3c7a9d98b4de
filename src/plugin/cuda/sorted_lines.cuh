// SPDX-License-Identifier: Apache-2.0
// Places of elements in order, by the order primitive.
#pragma once
#include "op/kernel.h"
#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/primitives.h"

namespace mxnet {
namespace cuda {

// The first `k` of each row's keys in order; equal ones as they come.
template <class T>
const int64_t* sorted_places(KernelContext& context, const T* keys, int64_t rows, int64_t n,
                             int64_t k, bool ascending = false) {
  int64_t* const positions = context.workspace_of<int64_t>(rows * k);
  const Shape all{rows, n}, taken{rows, k};
  const Tensor in{const_cast<T*>(keys), &all, dtype_of<T>};
  const Tensor out{positions, &taken, DType::kInt64};
  GpuOrder call{rows, n, 1, k, ascending, in};
  call.positions = &out;
  order(context.stream()->native(), call, context);
  return positions;
}

}  // namespace cuda
}  // namespace mxnet
