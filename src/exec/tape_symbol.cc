// SPDX-License-Identifier: Apache-2.0
// Tape nodes to symbol nodes.
#include "exec/tape_symbol.h"

#include <fmt/format.h>

#include <unordered_map>

#include "base/error.h"
#include "exec/tape.h"
#include "op/op_def.h"

namespace mxnet {

Symbol tape_symbol(const NDArray& array) {
  const TapeEntry* root = tape_entry(array);
  if (root == nullptr) {
    throw Error(ErrorCode::kValue, "autograd",
                "given an array that nothing was recorded of, expected a result of recorded calls");
  }
  std::unordered_map<const ir::Node*, Ref<ir::Node>> made;
  int variables = 0, operations = 0;
  const ir::Entry entry{Ref<ir::Node>(root->node), root->index, 0};
  for (const ir::Node* node : ir::topological_order(std::span(&entry, 1))) {
    const auto* recorded = static_cast<const TapeNode*>(node);
    if (recorded->freed() || recorded->kind() == TapeNode::Kind::kFunction) {
      throw Error(ErrorCode::kValue, "autograd",
                  recorded->freed() ? "given a graph that backward has freed, expected one that is "
                                      "kept with retain_graph"
                                    : "given a graph with a function of the user, expected "
                                      "operators only");
    }
    if (recorded->kind() != TapeNode::Kind::kOperation) {
      made[node] = Symbol::variable(fmt::format("var{}", variables++)).outputs()[0].node;
      continue;
    }
    const ParsedAttrs& call = *static_cast<const OperationNode*>(recorded)->parsed;
    auto copy = make_ref<ir::Node>();
    copy->op = &call.op();
    copy->attrs = call.attrs();
    copy->params = call.params();
    copy->name = fmt::format("node_{}", operations++);
    for (const ir::Entry& input : node->inputs)
      copy->inputs.push_back({made.at(input.node.get()), input.index, 0});
    made[node] = std::move(copy);
  }
  return Symbol(ir::Graph{{{made.at(root->node.get()), root->index, 0}}});
}

}  // namespace mxnet
