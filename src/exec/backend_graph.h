// SPDX-License-Identifier: Apache-2.0
// What an executor runs of the graph that is bound, with a backend that has operators of its own.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "ndarray/ndarray.h"

namespace mxnet {

// The graph as the backend of MXNET_SUBGRAPH_BACKEND leaves it, where that is one of whole graphs
// (graph/backends.h); otherwise as it is. Variables are the same nodes. Arrays that do not fit the
// graph leave it as it is too: the executor says what is wrong with them. Throws Error(kValue)
// where the backend's operators give results of other shapes or types.
ir::Graph backend_graph(const IndexedGraph& graph, const std::vector<NDArray>& args,
                        const std::vector<NDArray>& aux);

}  // namespace mxnet
