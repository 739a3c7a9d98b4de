// SPDX-License-Identifier: Apache-2.0
// One direction of an LSTM layer outside of training, its products by Strassen's method.
#pragma once
#include "op/rnn/network.h"

namespace mxnet::rnn {

// As run_direction() of forward.cc; `y` is where this direction's part of the outputs begins.
// False, and nothing is done, where the configuration, the sizes or the numbers want plain
// products.
bool run_by_strassen(const RnnParams& params, const Extent& extent,
                     const ForwardArrays<float>& arrays, int64_t layer, int direction,
                     const float* x, float* y, KernelContext& context);

}  // namespace mxnet::rnn
