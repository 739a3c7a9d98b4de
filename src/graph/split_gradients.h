// SPDX-License-Identifier: Apache-2.0
// Gradients that one operator computes together, one after the other: at its peak a convolution's
// gradient then holds two arrays of its width instead of three.
#pragma once
#include "ir/graph.h"

namespace mxnet {

// The graph with the gradient of a convolution's data in a node of its own, which needs of the data
// but its shape: data may go (or need not be computed again) before its gradient is made. Where
// kernels reorder what they read, both do. The graph given is not changed.
ir::Graph split_gradients(const ir::Graph& graph);

}  // namespace mxnet
