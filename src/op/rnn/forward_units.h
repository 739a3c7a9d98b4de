// SPDX-License-Identifier: Apache-2.0
// LSTM layers of float32 outside of training where a core's way to the third-level cache is narrow:
// units are divided among threads, which meet after each step, so that each reads a part of the
// weights for all samples, and products are plain, in tall tiles.
#pragma once
#include "op/rnn/network.h"

namespace mxnet::rnn {

// Does what run_direction() of forward_layer.cc does, for any number of threads with the same
// numbers, and with those of plain products there but for the last digits of cells (none of these
// where MXNET_RNN_STRASSEN is 0 or products are to be deterministic); `y` is where this direction's
// part of the outputs begins. False, and nothing has been done, where that way is not expected to
// take less time, or something wants what it does not make.
bool run_by_units(const RnnParams& params, const Extent& extent, const ForwardArrays<float>& arrays,
                  int64_t layer, int direction, const float* x, float* y, KernelContext& context);
// Whether it would.
bool gains_by_units(const RnnParams& params, const Extent& extent,
                    const ForwardArrays<float>& arrays, const KernelContext& context);

}  // namespace mxnet::rnn
