// SPDX-License-Identifier: Apache-2.0
// The order in which the operators of a graph run. Any order that respects the inputs computes the
// same; how long values have to be kept differs.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"

namespace mxnet {

struct Schedule {
  std::vector<int> nodes;  // operators only
  int num_forward = 0;     // the first ones, which the first outputs need; the rest is backward
};

// The nodes behind the first `forward_outputs` outputs in the graph's order. Then the others: as
// early as the gradients that they need are there, so that the gradients of weights are computed,
// and what they need is freed, while the pass goes on. Nodes that need no gradient (recomputed
// values, ones) run just before the first that uses them.
Schedule schedule_nodes(const IndexedGraph& graph, int forward_outputs);

}  // namespace mxnet
