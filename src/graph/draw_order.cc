// SPDX-License-Identifier: Apache-2.0
// Dependencies between neighbours in the order of the graph.
#include "graph/draw_order.h"

#include <algorithm>
#include <memory>

#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "op/op_def.h"

namespace mxnet {

ir::Graph with_draws_in_turn(const IndexedGraph& graph, bool training) {
  Ref<ir::Node> before;  // the last one that draws
  return rewrite(graph.graph(), [&](const ir::Node&, const Ref<ir::Node>& node) -> Replacement {
    if (node->is_variable() || !node->op->uses_random(node->params.get(), training))
      return std::nullopt;
    if (!before) {
      before = node;
      return std::nullopt;
    }
    Ref<ir::Node> copy = copy_node(*node);
    auto extras = copy->extras ? std::make_shared<ir::NodeExtras>(*copy->extras)
                               : std::make_shared<ir::NodeExtras>();
    extras->control_deps.push_back(std::move(before));
    copy->extras = std::move(extras);
    before = copy;
    std::vector<ir::Entry> outputs;
    const int count = copy->op->num_outputs(copy->params.get());
    for (int o = 0; o < count; ++o) outputs.push_back({copy, o, 0});
    return outputs;
  });
}

}  // namespace mxnet
