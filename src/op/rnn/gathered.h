// SPDX-License-Identifier: Apache-2.0
// The recurrent operator of graphs that only infer, whose weights were a vector made of arrays.
#pragma once

namespace mxnet::rnn {

// Inputs: data, state[, state_cell][, sequence_length], then the arrays in the vector's order.
inline constexpr const char* kGatheredRnn = "_sg_rnn";

}  // namespace mxnet::rnn
