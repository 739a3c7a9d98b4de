// SPDX-License-Identifier: Apache-2.0
// Numbers that update operators take from arrays.
#pragma once
#include <cmath>
#include <cstring>

#include "op/convert.h"
#include "op/dispatch.h"
#include "op/kernel.h"

namespace mxnet {

// Element i of a floating tensor.
inline float tensor_scalar(const Tensor& tensor, int64_t i = 0) {
  return dispatch_dtype<kFloating>(tensor.dtype, "update", [&]<class T>(TypeTag<T>) {
    return convert<float>(tensor.as<T>()[i]);
  });
}

// Whether a step with this factor of the gradient is to be taken at all.
inline bool usable_scale(float scale) { return std::isfinite(scale) && scale != 0; }

// The result of a step that is left out.
inline void keep_weight(const Tensor& weight, const Tensor& out) {
  if (out.data != weight.data && weight.size() > 0) {
    std::memcpy(out.data, weight.data,
                static_cast<std::size_t>(weight.size()) * dtype_size(weight.dtype));
  }
}

}  // namespace mxnet
