// SPDX-License-Identifier: Apache-2.0
// Recurrent networks by cuDNN, where it has them; kernels of ours (rnn.cu, rnn_slope.cu) compute
// the others.
#pragma once
#include "op/kernel.h"
#include "op/rnn/layout.h"

namespace mxnet {
namespace cuda {

// Calls of RNN and of its gradient. False: nothing was done. Both answer alike for one network, so
// that each finds in the reserve what it has left there.
bool forward_by_cudnn(const rnn::RnnParams& params, KernelContext& context);
bool backward_by_cudnn(const rnn::RnnParams& params, KernelContext& context);

}  // namespace cuda
}  // namespace mxnet
