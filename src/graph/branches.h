// SPDX-License-Identifier: Apache-2.0
// Which parts of a graph could run beside one another.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// A colour from 0 to `colors` - 1 for each node: the way through the graph that is most work has
// the first, the longest one through what is left the next, and so on; what is left in the end
// follows its inputs. `types` are complete.
std::vector<int> color_branches(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                                int colors);

}  // namespace mxnet
