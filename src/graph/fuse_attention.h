// SPDX-License-Identifier: Apache-2.0
// Products of queries and keys, their softmax, and values weighted by it become one operator, in
// graphs that only infer on a GPU: the weights, a number for each two steps, are in no memory then.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// `types` holds a complete type for each entry. What is between is taken over only if nobody else
// reads it. Deterministic; the graph given is not changed.
ir::Graph fuse_attention(const IndexedGraph& graph, const std::vector<ArrayType>& types);

}  // namespace mxnet
