// SPDX-License-Identifier: Apache-2.0
// Recurrent layers read their weights where they are, in graphs that only infer: the vector that
// blocks make of them at each call is left out.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// `types` holds a complete type for each entry. Layers on float32 and float64 whose weights are
// variables. Deterministic; the graph given is not changed.
ir::Graph gather_weights(const IndexedGraph& graph, const std::vector<ArrayType>& types);

}  // namespace mxnet
