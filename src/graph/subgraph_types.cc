// SPDX-License-Identifier: Apache-2.0
// A type for each entry of the graph.
#include "graph/subgraph_types.h"

#include "graph/infer.h"

namespace mxnet {
namespace {

const ir::Graph& given(const std::shared_ptr<const ir::Graph>& graph, const Infer& infer) {
  if (!graph) infer.fail("given no graph, expected a node that carries one");
  return *graph;
}

}  // namespace

SubgraphTypes::SubgraphTypes(const std::shared_ptr<const ir::Graph>& graph, const Infer& infer)
    : graph_(given(graph, infer)), types_(static_cast<std::size_t>(graph_.num_entries())) {}

ArrayType& SubgraphTypes::variable(int i) {
  const int node = graph_.variables()[static_cast<std::size_t>(i)];
  return types_[static_cast<std::size_t>(graph_.first_entry(node))];
}

ArrayType& SubgraphTypes::output(int o) {
  return types_[static_cast<std::size_t>(graph_.outputs()[static_cast<std::size_t>(o)])];
}

void SubgraphTypes::complete() { infer_graph(graph_, &types_); }

}  // namespace mxnet
