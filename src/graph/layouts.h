// SPDX-License-Identifier: Apache-2.0
// Which layout each value of a compiled graph lies in. Kernels that are prepared choose theirs in
// the order in which they run; steps between layouts become nodes.
#pragma once
#include <unordered_map>
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"
#include "op/prepared_kernel.h"

namespace mxnet {

struct LaidOutGraph {
  ir::Graph graph;
  // Nodes of the graph that run prepared; all other values are plain rows.
  std::unordered_map<const ir::Node*, PreparedKernelRef> kernels;
};

// `types` holds a complete type for each entry. Variables and outputs are plain rows. A value is
// brought into another layout at most once, for all who read it there.
// While training pointwise operators take the layout of what they read, so that gradients go back
// in the layouts of the way forward.
LaidOutGraph lay_out(const IndexedGraph& graph, const std::vector<ArrayType>& types, bool training);

}  // namespace mxnet
