// SPDX-License-Identifier: Apache-2.0
// Numbering of nodes and entries.
#include "graph/indexed_graph.h"

#include <algorithm>

#include "base/error.h"
#include "graph/symbol_node.h"
#include "op/op_def.h"

namespace mxnet {

IndexedGraph::IndexedGraph(ir::Graph graph) : graph_(std::move(graph)) {
  for (ir::Node* node : ir::topological_order(graph_.outputs)) {
    check_inputs(*node);
    const int n = num_nodes();
    first_entry_.push_back(static_cast<int>(node_of_.size()));
    const int outputs = node->is_variable() ? 1 : node->op->num_outputs(node->params.get());
    node_of_.insert(node_of_.end(), static_cast<std::size_t>(outputs), n);
    nodes_.push_back(node);
    by_address_.emplace_back(node, n);
  }
  first_entry_.push_back(static_cast<int>(node_of_.size()));
  std::sort(by_address_.begin(), by_address_.end());

  std::vector<bool> is_state(node_of_.size());
  for (const ir::Node* node : nodes_) {
    first_input_.push_back(static_cast<int>(inputs_.size()));
    first_mutated_.push_back(static_cast<int>(mutated_.size()));
    for (const ir::Entry& input : node->inputs) inputs_.push_back(entry(input));
    if (node->is_variable()) continue;
    for (int i : node->op->mutated_inputs(node->params.get())) {
      MX_ASSERT(static_cast<std::size_t>(i) < node->inputs.size());
      const int e = entry(node->inputs[static_cast<std::size_t>(i)]);
      mutated_.push_back(e);
      is_state[static_cast<std::size_t>(e)] = true;
    }
    for (int i : node->op->state_inputs(node->params.get()))
      is_state[static_cast<std::size_t>(entry(node->inputs[static_cast<std::size_t>(i)]))] = true;
  }
  first_input_.push_back(static_cast<int>(inputs_.size()));
  first_mutated_.push_back(static_cast<int>(mutated_.size()));
  for (const ir::Entry& output : graph_.outputs) outputs_.push_back(entry(output));

  for (int n = 0; n < num_nodes(); ++n) {
    if (!node(n).is_variable()) continue;
    variables_.push_back(n);
    (is_state[static_cast<std::size_t>(first_entry(n))] ? auxiliary_ : arguments_).push_back(n);
  }
}

IndexedGraph::Addresses::const_iterator IndexedGraph::find(const ir::Node& node) const {
  const auto at = std::lower_bound(by_address_.begin(), by_address_.end(), std::pair(&node, 0));
  return at != by_address_.end() && at->first == &node ? at : by_address_.end();
}

int IndexedGraph::index_of(const ir::Node& node) const {
  const auto at = find(node);
  MX_ASSERT(at != by_address_.end());
  return at->second;
}

}  // namespace mxnet
