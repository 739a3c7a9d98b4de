// SPDX-License-Identifier: Apache-2.0
// Depth-first order of nodes.
#include "ir/graph.h"

#include <unordered_set>
#include <utility>

namespace mxnet::ir {

std::vector<Node*> topological_order(std::span<const Entry> outputs) {
  std::vector<Node*> order;
  std::unordered_set<const Node*> seen;
  std::vector<std::pair<Node*, std::size_t>> stack;  // a node and its next step
  const auto open = [&](Node* node) {
    if (seen.insert(node).second) stack.emplace_back(node, 0);
  };
  for (const Entry& root : outputs) {
    open(root.node.get());
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      const std::size_t step = next++;
      if (step < node->inputs.size()) {
        open(node->inputs[step].node.get());
      } else if (const std::size_t dep = step - node->inputs.size();
                 dep < node->control_deps().size()) {
        open(node->control_deps()[dep].get());
      } else {
        order.push_back(node);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace mxnet::ir
