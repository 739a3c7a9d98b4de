// SPDX-License-Identifier: Apache-2.0
// Running attention: at once where cuDNN can and was faster when times were taken.
#pragma once
#include <functional>

#include "op/kernel.h"
#include "plugin/cuda/dnn/attention.h"

namespace mxnet::cuda {

// Writes the output. apart() does it by products and a softmax of ours; it may be called several
// times. The output's memory is no other array's.
void attend(NativeStream* stream, const Attention& attention, const AttentionArrays& arrays,
            const std::function<void()>& apart, KernelContext& context);

}  // namespace mxnet::cuda
