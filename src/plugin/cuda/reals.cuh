// SPDX-License-Identifier: Apache-2.0
// Arrays of any type as double numbers, for reductions whose sums are double and come in one order.
#pragma once
#include "plugin/cuda/lines.cuh"

namespace mxnet {
namespace cuda {

using Reals = Numbers<double>;
inline Reals reals(const Tensor& tensor) { return {tensor.data, tensor.dtype}; }
inline Stored stored(const Tensor& tensor) { return {tensor.data, tensor.dtype}; }

}  // namespace cuda
}  // namespace mxnet
