// SPDX-License-Identifier: Apache-2.0
// How often each value of a graph is read.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"

namespace mxnet {

// Per entry; being an output of the graph counts as well.
inline std::vector<int> entry_uses(const IndexedGraph& graph) {
  std::vector<int> uses(static_cast<std::size_t>(graph.num_entries()));
  for (int n = 0; n < graph.num_nodes(); ++n)
    for (int entry : graph.inputs(n)) ++uses[static_cast<std::size_t>(entry)];
  for (int entry : graph.outputs()) ++uses[static_cast<std::size_t>(entry)];
  return uses;
}

}  // namespace mxnet
