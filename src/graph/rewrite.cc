// SPDX-License-Identifier: Apache-2.0
// Copying of what changes.
#include "graph/rewrite.h"

#include <unordered_map>

#include "graph/symbol.h"

namespace mxnet {

ir::Graph rewrite(const ir::Graph& graph,
                  const std::function<Replacement(const ir::Node& original,
                                                  const Ref<ir::Node>& node)>& replace) {
  struct Changed {
    Ref<ir::Node> node;  // stands for the node where `outputs` is empty
    Replacement outputs;
  };
  std::unordered_map<const ir::Node*, Changed> changed;
  const auto now = [&](const ir::Entry& entry) {
    const auto at = changed.find(entry.node.get());
    if (at == changed.end()) return entry;
    const Changed& change = at->second;
    if (change.outputs) return change.outputs->at(static_cast<std::size_t>(entry.index));
    return ir::Entry{change.node, entry.index, entry.version};
  };
  for (ir::Node* original : ir::topological_order(graph.outputs)) {
    Ref<ir::Node> node(original);
    bool differs = false;
    for (const ir::Entry& input : original->inputs) differs |= changed.count(input.node.get()) > 0;
    for (const Ref<ir::Node>& dep : original->control_deps())
      differs |= changed.count(dep.get()) > 0;
    if (differs) {
      node = copy_node(*original);
      for (ir::Entry& input : node->inputs) input = now(input);
      renew_control_deps(node.get(), [&](const Ref<ir::Node>& dep) {
        return now({dep, 0, 0}).node;
      });
    }
    Replacement outputs = replace(*original, node);
    if (differs || outputs) changed[original] = {std::move(node), std::move(outputs)};
  }
  ir::Graph result;
  for (const ir::Entry& output : graph.outputs) result.outputs.push_back(now(output));
  return result;
}

void renew_control_deps(ir::Node* node,
                        const std::function<Ref<ir::Node>(const Ref<ir::Node>&)>& stands_now) {
  if (node->control_deps().empty()) return;
  auto extras = std::make_shared<ir::NodeExtras>(*node->extras);
  for (Ref<ir::Node>& dep : extras->control_deps) dep = stands_now(dep);
  node->extras = std::move(extras);
}

}  // namespace mxnet
