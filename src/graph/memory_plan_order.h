// SPDX-License-Identifier: Apache-2.0
// The order in which the operators of a graph run. Any order that respects the inputs, and who
// reads a state before it is written, computes the same; how long values have to be kept differs.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"

namespace mxnet {

struct Schedule {
  std::vector<int> nodes;  // operators only
  int num_forward = 0;     // the first ones, which the first outputs need; the rest is backward
};

// In which order the forward part runs: one branch of the graph to its end and then the next, as
// the graph has them, or all at the same pace. Only then do branches run beside one another: an
// operation that reads what another branch has made waits for all before it that write there.
enum class Pace : bool { kInTurn, kAbreast };

// The nodes behind the first `forward_outputs` outputs in that order. Then the others: as
// early as the gradients that they need are there, so that the gradients of weights are computed,
// and what they need is freed, while the pass goes on. Nodes that need no gradient (recomputed
// values, ones) run just before the first that uses them.
Schedule schedule_nodes(const IndexedGraph& graph, int forward_outputs, Pace pace = Pace::kInTurn);

}  // namespace mxnet
