// SPDX-License-Identifier: Apache-2.0
// Cutting a body off.
#include "graph/symbol_cut.h"

#include <map>

#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"

namespace mxnet {

std::vector<Symbol> cut_subgraph(Symbol* body) {
  constexpr std::string_view kName = "__subgraph_name__";
  std::vector<Symbol> values;
  if (body->outputs().empty()) return values;
  const std::string* found = find_attr(*body->outputs()[0].node, kName);
  if (found == nullptr) return values;
  const std::string name = *found;
  const auto inside = [&](const ir::Node& node) {
    const std::string* its = find_attr(node, kName);
    return its != nullptr && *its == name;
  };
  std::map<std::pair<const ir::Node*, int32_t>, ir::Entry> variables;
  for (ir::Node* node : ir::topological_order(body->outputs())) {
    if (!inside(*node)) continue;
    for (ir::Entry& input : node->inputs) {
      if (inside(*input.node)) continue;
      const auto [at, first] = variables.try_emplace({input.node.get(), input.index});
      if (first) {
        at->second = Symbol::variable(entry_name(input)).outputs()[0];
        values.push_back(Symbol(ir::Graph{{input}}));
      }
      input = at->second;
    }
  }
  return values;
}

}  // namespace mxnet
