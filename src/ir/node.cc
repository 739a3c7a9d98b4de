// SPDX-License-Identifier: Apache-2.0
// Destruction of long chains of nodes.
#include "ir/node.h"

#include "ir/graph.h"

namespace mxnet::ir {

namespace {

// Takes over what `node` holds, so that it can end without ending anything else.
void take_dependencies(Node& node, std::vector<Entry>* dying) {
  for (Entry& input : node.inputs) dying->push_back(std::move(input));
  node.inputs.clear();
  for (const Ref<Node>& dep : node.control_deps()) dying->push_back({dep, 0, 0});
  node.extras.reset();
}

}  // namespace

Node::~Node() {
  std::vector<Entry> dying;
  take_dependencies(*this, &dying);
  while (!dying.empty()) {
    const Entry entry = std::move(dying.back());
    dying.pop_back();
    if (entry.node && entry.node->unique()) take_dependencies(*entry.node, &dying);
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
