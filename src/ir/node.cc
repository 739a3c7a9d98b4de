// SPDX-License-Identifier: Apache-2.0
// Destruction of long chains of nodes.
#include "ir/node.h"

#include "ir/graph.h"

namespace mxnet::ir {

Node::~Node() {
  // Takes over the inputs of every node that would die with this one, so that no destructor runs
  // inside another.
  std::vector<Entry> dying = std::move(inputs);
  while (!dying.empty()) {
    Entry entry = std::move(dying.back());
    dying.pop_back();
    if (!entry.node || !entry.node->unique()) continue;
    for (Entry& input : entry.node->inputs) dying.push_back(std::move(input));
    entry.node->inputs.clear();
  }
}

std::span<const Ref<Node>> Node::control_deps() const {
  return extras ? std::span<const Ref<Node>>(extras->control_deps) : std::span<const Ref<Node>>();
}

std::span<const std::shared_ptr<const Graph>> Node::subgraphs() const {
  return extras ? std::span<const std::shared_ptr<const Graph>>(extras->subgraphs)
                : std::span<const std::shared_ptr<const Graph>>();
}

}  // namespace mxnet::ir
