// SPDX-License-Identifier: Apache-2.0
// Depth-first order of nodes.
#include "ir/graph.h"

#include <cstdint>
#include <utility>

namespace mxnet::ir {
namespace {

// Nodes by their addresses, in a table of which at least half is empty: passes over graphs order
// them a dozen times for each plan.
class Seen {
 public:
  // False where it is there already.
  bool insert(Node* node) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    const bool is_new = place(node);
    count_ += is_new ? 1 : 0;
    return is_new;
  }

 private:
  bool place(Node* node) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (reinterpret_cast<std::uintptr_t>(node) >> 4) * 0x9E3779B97F4A7C15 >> 32;
    for (at &= mask; slots_[at] != nullptr; at = (at + 1) & mask)
      if (slots_[at] == node) return false;
    slots_[at] = node;
    return true;
  }
  void grow() {
    const std::vector<Node*> old = std::exchange(slots_, std::vector<Node*>(4 * slots_.size()));
    for (Node* node : old)
      if (node != nullptr) place(node);
  }

  std::vector<Node*> slots_ = std::vector<Node*>(128);  // a power of two
  std::size_t count_ = 0;
};

}  // namespace

std::vector<Node*> topological_order(std::span<const Entry> outputs) {
  std::vector<Node*> order;
  Seen seen;
  std::vector<std::pair<Node*, std::size_t>> stack;  // a node and its next step
  const auto open = [&](Node* node) {
    if (seen.insert(node)) stack.emplace_back(node, 0);
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
