// SPDX-License-Identifier: Apache-2.0
// What a GPU's fused convolutions do to their weights becomes a node before them, whose results a
// plan keeps as long as the weights stay the same: they are half of what a small batch reads.
#pragma once
#include "ir/graph.h"

namespace mxnet {

// Afterwards no convolution of the graph folds a normalisation or turns its weight itself. The
// graph given is not changed. Deterministic.
ir::Graph weights_apart(const ir::Graph& graph);

}  // namespace mxnet
