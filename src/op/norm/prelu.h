// SPDX-License-Identifier: Apache-2.0
// prelu: straight below zero, too, by a slope that is learnt, one for all or one for each channel.
#pragma once
#include "op/infer.h"
#include "op/kernel.h"
#include "op/run/gpu_table.h"

namespace mxnet {

// out = x > 0 ? value : slopes * value, by primitives of the device; the slopes broadcast.
void bend_on_gpu(const GpuTable& gpu, const Tensor& x, const Tensor& value, const Tensor& slopes,
                 const Tensor& out, KernelContext& context);

// Inputs: data, slopes.
void prelu_forward(KernelContext& context);
// Inputs: gradient, data, slopes; outputs: gradients of the last two.
void prelu_backward(KernelContext& context);

// gamma: one slope for all, or one a channel, perhaps with axes of one element around.
void infer_prelu(InferArg data, InferArg gamma);

}  // namespace mxnet
