// SPDX-License-Identifier: Apache-2.0
// Fused convolutions whose results are read only by 1x1 convolutions that step over pixels compute
// none that is stepped over: the step moves to the layer before, and from there on as far as it
// goes. ResNets have such a place at the end of each of their stages.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// `types` holds a complete type for each entry. Every result that is left is the same sum of
// products as before. Deterministic; the graph given is not changed.
ir::Graph sink_strides(const IndexedGraph& graph, const std::vector<ArrayType>& types);

}  // namespace mxnet
