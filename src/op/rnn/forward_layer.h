// SPDX-License-Identifier: Apache-2.0
// One layer of a recurrent network, forward.
#pragma once
#include <cstdint>

#include "op/rnn/forward_strassen.h"
#include "op/rnn/network.h"

namespace mxnet::rnn {

// Its directions one after the other, or beside each other on a thread each, by the products that
// suit them; what can wait for layers above it waits in `runs`. `x` has the rows of the input or of
// the layer below, `y` those of this one's output.
template <class T>
void run_layer(const RnnParams& params, const Extent& extent, const ForwardArrays<T>& arrays,
               int64_t layer, const T* x, T* y, StrassenRuns& runs, KernelContext& context);

}  // namespace mxnet::rnn
