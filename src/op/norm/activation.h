// SPDX-License-Identifier: Apache-2.0
// Activation rows over whole tensors, and as nodes: what Activation and LeakyReLU share.
#pragma once
#include "op/grad.h"
#include "op/infer.h"
#include "op/kernel.h"
#include "op/norm/activation_loops.h"

namespace mxnet {

void activation_forward(ActivationRow row, double slope, const Tensor& in, const Tensor& out,
                        KernelContext& context);
// `arg`: x or y of the forward call, see activation_uses().
void activation_backward(ActivationRow row, double slope, const Tensor& dy, const Tensor& arg,
                         const Tensor& dx, KernelContext& context);
// dy * slope as nodes that can be differentiated again, from the same value as the kernel above.
Value activation_gradient(ActivationRow row, double slope, const Value& dy, const Value& arg);
// All inputs and outputs are alike, of a floating type.
void infer_alike(Infer& infer);

}  // namespace mxnet
