// SPDX-License-Identifier: Apache-2.0
// Which layout each value of a compiled graph lies in. Kernels that are prepared choose theirs in
// the order in which they run; steps between layouts become nodes.
#pragma once
#include <cstddef>
#include <limits>
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

struct LayoutOptions {
  bool training = false;  // the mode that operators run in
  // With a backward part: pointwise operators take the layout of what they read, so that gradients
  // go back in the layouts of the way forward.
  bool differentiated = false;
  // Operators that read or make a value of more bytes stay with plain rows: such a value in two
  // layouts would be what a plan needs most memory for.
  std::size_t widest = std::numeric_limits<std::size_t>::max();
};

// `types` holds a complete type for each entry. Variables and outputs are plain rows. A value is
// brought into another layout at most once, for all who read it there.
LaidOutGraph lay_out(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                     const LayoutOptions& options);

}  // namespace mxnet
