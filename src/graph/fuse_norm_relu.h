// SPDX-License-Identifier: Apache-2.0
// Batch normalisations and the relu behind them as one operator, in graphs that train: neither the
// normalised value nor its gradient goes through memory once more.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// `types` holds a complete type for each entry of a graph with its gradients. On the CPU only
// images of float32 that a convolution makes, which kernels in channel blocks normalise; on a GPU
// all arrays. Both directions are taken over or none is. Deterministic; the graph given is not
// changed.
ir::Graph fuse_norm_relu(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                         bool on_gpu = false);

}  // namespace mxnet
