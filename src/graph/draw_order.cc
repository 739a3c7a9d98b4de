// SPDX-License-Identifier: Apache-2.0
// Dependencies between neighbours in the order of the graph.
#include "graph/draw_order.h"

#include <algorithm>
#include <memory>

#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "op/op_def.h"

namespace mxnet {

namespace {

// A copy of a node, behind another one.
[[gnu::cold, gnu::noinline]] Ref<ir::Node> behind(const ir::Node& node, Ref<ir::Node> before) {
  Ref<ir::Node> copy = copy_node(node);
  auto extras = std::make_shared<ir::NodeExtras>();
  if (node.extras) *extras = *node.extras;
  extras->control_deps.push_back(std::move(before));
  copy->extras = std::move(extras);
  return copy;
}

[[gnu::cold, gnu::noinline]] std::vector<ir::Entry> outputs_of(const Ref<ir::Node>& node) {
  std::vector<ir::Entry> outputs;
  const int count = node->op->num_outputs(node->params.get());
  outputs.reserve(static_cast<std::size_t>(count));
  for (int o = 0; o < count; ++o) outputs.push_back({node, o, 0});
  return outputs;
}

}  // namespace

ir::Graph with_draws_in_turn(const IndexedGraph& graph, bool training) {
  Ref<ir::Node> before;  // the last one that draws
  return rewrite(graph.graph(), [&](const ir::Node&, const Ref<ir::Node>& node) -> Replacement {
    if (node->is_variable() || !node->op->uses_random(node->params.get(), training))
      return std::nullopt;
    const bool is_first = !before;
    before = is_first ? node : behind(*node, std::move(before));
    return is_first ? Replacement() : outputs_of(before);
  });
}

}  // namespace mxnet
