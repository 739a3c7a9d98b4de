// SPDX-License-Identifier: Apache-2.0
// Runs a binary row, on the device of the call, over tensors of one type: broadcast shapes, either
// argument a scalar, results of the same type or bool.
#pragma once
#include "op/kernel.h"
#include "op/rows/binary_loops.h"

namespace mxnet {

// REQUIRES: a and b have one type, out has it too or (comparisons) is bool; a and b broadcast to
// out.
void run_binary(BinaryRow row, const Tensor& a, const Tensor& b, const Tensor& out,
                KernelContext& context);
// The same with a number on one side, converted to the tensor's type first.
void run_binary_scalar(BinaryRow row, const Tensor& a, double scalar, bool scalar_left,
                       const Tensor& out, KernelContext& context);
// dx = dy * slope at equal shapes.
void run_binary_slope(BinaryRow row, bool left, const Tensor& dy, const Tensor& a, const Tensor& b,
                      const Tensor& dx, KernelContext& context);

}  // namespace mxnet
