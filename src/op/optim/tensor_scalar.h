// SPDX-License-Identifier: Apache-2.0
// Numbers that update operators take from arrays.
#pragma once
#include "op/infer.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/primitives.h"

namespace mxnet {

// Element i of a floating tensor that the host can read.
inline float tensor_scalar(const Tensor& tensor, int64_t i) {
  return dispatch_dtype<kFloating>(tensor.dtype, "update", [&]<class T>(TypeTag<T>) {
    return convert<float>(tensor.as<T>()[i]);
  });
}

// Refuses an array that has no element to take.
inline void require_scalar(InferArg arg) {
  if (arg.known() && arg.shape().size() == 0) arg.fail("one element");
}

// The result of a step that is left out, or, on a GPU, of one of which only its kernel will know.
inline void keep_weight(KernelContext& context, const Tensor& weight, const Tensor& out) {
  if (out.data == weight.data) return;
  copy_memory(context, weight.data, out.data,
              static_cast<std::size_t>(weight.size()) * dtype_size(weight.dtype));
}

}  // namespace mxnet
