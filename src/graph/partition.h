// SPDX-License-Identifier: Apache-2.0
// Backends take over parts of a network: connected nodes that they select become one node that
// carries them as its subgraph.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "op/params/param.h"

namespace mxnet {

// Chooses nodes. Made by whoever offers a backend; used by any thread, so const and without state.
class Partitioner {
 public:
  virtual ~Partitioner() = default;
  virtual bool selects(const ir::Node& node) const = 0;
  // Only selected nodes of one group become one part.
  virtual int group(const ir::Node& /*node*/) const { return 0; }
  // Whether part `number` is taken; otherwise its nodes stay as they are. May add attributes to the
  // node that is to carry it.
  virtual bool takes(const ir::Graph& /*part*/, int /*number*/, Attrs* /*attrs*/) const {
    return true;
  }
  // Operator of the nodes that carry the parts (graph/subgraph_op.h).
  virtual std::string_view subgraph_op() const { return "_CachedOp"; }
  // The same with options of its own, as a caller gives them; null where it knows one of them not.
  virtual std::shared_ptr<const Partitioner> with_options(AttrList) const { return nullptr; }
};

// Nodes by the names of their operators.
std::unique_ptr<Partitioner> select_operators(const std::vector<std::string>& names);

// Connected selected nodes become one node each, as large as can be without a path that leaves the
// part and comes back. `share_equal`: parts that differ in names only carry the graph of the first.
// Deterministic and linear; the graph given is not changed.
ir::Graph partition(const ir::Graph& graph, const Partitioner& partitioner,
                    bool share_equal = false);
// The reverse: every _CachedOp node, and every other one that stands for a graph
// (graph/fused_layer.h), is replaced by what it carries.
ir::Graph inline_parts(const ir::Graph& graph);

}  // namespace mxnet
