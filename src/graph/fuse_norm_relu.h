// SPDX-License-Identifier: Apache-2.0
// Batch normalisations and the relu behind them as one operator, in graphs that train: neither the
// normalised value nor its gradient goes through memory once more.
#pragma once
#include <span>
#include <vector>

#include "graph/indexed_graph.h"
#include "graph/layouts.h"
#include "op/infer.h"

namespace mxnet {

// Of a graph with its gradients that is laid out already: what lies in channel blocks, in any type,
// whoever made it. Where kernels in rows normalise, the mask would take a byte an element, and is
// not worth it. Both directions are taken over or none is; no value changes its layout. `types`
// holds a complete type for each entry, `kernels` what is prepared for each node. Deterministic;
// the graph given is not changed.
LaidOutGraph fuse_norm_relu(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                            std::span<const PreparedKernelRef> kernels);
// The same for a GPU, whose kernels normalise arrays of every layout with relu: nothing is
// prepared.
ir::Graph fuse_norm_relu_on_gpu(const IndexedGraph& graph, const std::vector<ArrayType>& types);

}  // namespace mxnet
