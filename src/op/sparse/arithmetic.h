// SPDX-License-Identifier: Apache-2.0
// Floating operands and results of kernels that know float and double: half types are converted on
// the way in and out.
#pragma once
#include <algorithm>
#include <utility>

#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/sparse_context.h"

namespace mxnet {

// T itself, or float for the half types.
template <class T>
using Arithmetic = ComputeType<T>;

template <class T>
const Arithmetic<T>* operand(SparseContext& context, const Tensor& tensor) {
  if constexpr (std::is_same_v<T, Arithmetic<T>>) {
    return tensor.as<const T>();
  } else {
    auto* wide = context.workspace_of<float>(tensor.size());
    convert_array(tensor.as<const T>(), wide, tensor.size());
    return wide;
  }
}

// Memory that a product is computed into: that of the result, or floats that round() brings there.
template <class T>
class Result {
 public:
  Result(SparseContext& context, const Tensor& tensor) : tensor_(tensor) {
    if constexpr (std::is_same_v<T, Arithmetic<T>>)
      data_ = tensor.as<T>();
    else
      data_ = context.workspace_of<float>(tensor.size());
  }
  Arithmetic<T>* data() const { return data_; }
  void round() const {
    if constexpr (!std::is_same_v<T, Arithmetic<T>>)
      convert_array(data_, tensor_.as<T>(), tensor_.size());
  }

 private:
  const Tensor tensor_;
  Arithmetic<T>* data_;
};

}  // namespace mxnet
