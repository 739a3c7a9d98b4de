// SPDX-License-Identifier: Apache-2.0
// Numbers that update operators take from arrays.
#pragma once
#include <cmath>

#include "op/convert.h"
#include "op/dispatch.h"
#include "op/primitives.h"
#include "op/read_back.h"

namespace mxnet {

// Element i of a floating tensor that the host can read.
inline float tensor_scalar(const Tensor& tensor, int64_t i) {
  return dispatch_dtype<kFloating>(tensor.dtype, "update", [&]<class T>(TypeTag<T>) {
    return convert<float>(tensor.as<T>()[i]);
  });
}

// The only element of a tensor on the device of the call.
inline float tensor_scalar(KernelContext& context, const Tensor& tensor) {
  return tensor_scalar(HostCopy(context, tensor).tensor(), 0);
}

// Whether a step with this factor of the gradient is to be taken at all.
inline bool usable_scale(float scale) { return std::isfinite(scale) && scale != 0; }

// The result of a step that is left out.
inline void keep_weight(KernelContext& context, const Tensor& weight, const Tensor& out) {
  copy_memory(context, weight.data, out.data,
              static_cast<std::size_t>(weight.size()) * dtype_size(weight.dtype));
}

}  // namespace mxnet
