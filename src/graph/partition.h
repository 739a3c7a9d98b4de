// SPDX-License-Identifier: Apache-2.0
// Backends take over parts of a network: connected nodes that they select become one node that
// carries them as its subgraph.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace mxnet {

// Chooses nodes. Made by whoever offers a backend; used by any thread, so const and without state.
class Partitioner {
 public:
  virtual ~Partitioner() = default;
  virtual bool selects(const ir::Node& node) const = 0;
  // Operator of the nodes that carry the parts (graph/subgraph_op.h).
  virtual std::string_view subgraph_op() const { return "_CachedOp"; }
};

// Nodes by the names of their operators.
std::unique_ptr<Partitioner> select_operators(const std::vector<std::string>& names);

// Connected selected nodes become one node each, as large as can be without a path that leaves the
// part and comes back. Deterministic and linear; the graph given is not changed.
ir::Graph partition(const ir::Graph& graph, const Partitioner& partitioner);
// The reverse: every _CachedOp node, and every other one that stands for a graph
// (graph/fused_layer.h), is replaced by what it carries.
ir::Graph inline_parts(const ir::Graph& graph);

// Backends by name. Registering a name again replaces it; thread-safe.
void register_backend(const std::string& name, std::shared_ptr<const Partitioner> partitioner);
bool remove_backend(const std::string& name);
// Throws Error(kValue) with the names there are. Null for the backends that work when a graph is
// compiled and so leave it as it is here: ONEDNN, or MKLDNN.
std::shared_ptr<const Partitioner> backend(const std::string& name);

}  // namespace mxnet
