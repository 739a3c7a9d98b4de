// SPDX-License-Identifier: Apache-2.0
// The same seed gives the same numbers only where those who draw take turns in the same order.
#pragma once
#include "graph/indexed_graph.h"

namespace mxnet {

// The graph with each node that draws random numbers behind the one before it (a dependency), so
// that no pass moves one ahead of another by reading the same values in another order. Nodes have
// the numbers that they had.
ir::Graph with_draws_in_turn(const IndexedGraph& graph, bool training);

}  // namespace mxnet
