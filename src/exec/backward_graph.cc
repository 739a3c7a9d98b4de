// SPDX-License-Identifier: Apache-2.0
// Orders what is behind the heads, and finds who is on the way to a wanted leaf.
#include "exec/backward_graph.h"

#include <fmt/format.h>

#include <ranges>

#include "base/error.h"

namespace mxnet {

BackwardGraph::~BackwardGraph() {
  for (const Visit& visit : order_)
    if (!visit.freed) visit.node->leave();
}

void BackwardGraph::collect(InputRefs heads, InputRefs variables, bool allow_unused) {
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const TapeEntry* entry = tape_entry(*heads[i]);
    if (entry != nullptr && entry->node->kind() != TapeNode::Kind::kConstant) {
      visit_behind(entry->node.get());
      continue;
    }
    throw Error(ErrorCode::kValue, "backward",
                fmt::format("given array {} that is not in a computational graph, expected the "
                            "result of operations recorded with autograd.record(); to "
                            "differentiate one graph twice, pass retain_graph=True to the first "
                            "backward",
                            i));
  }
  if (variables.empty())
    want_marked();
  else
    want(variables, allow_unused);
  mark_needed();
}

// Depth first without recursion: graphs may be 10^6 nodes deep.
void BackwardGraph::visit_behind(TapeNode* root) {
  struct Open {
    TapeNode* node;
    bool first;
    std::size_t next;  // input
  };
  std::vector<Open> stack;
  const auto open = [&](TapeNode* node) {
    if (node->kind() == TapeNode::Kind::kConstant) return;
    if (node->kind() == TapeNode::Kind::kLeaf) {
      auto* leaf = static_cast<LeafNode*>(node);
      if (leaf_index_.try_emplace(leaf, leaves_.size()).second) leaves_.emplace_back(leaf);
      return;
    }
    if (visited(*node)) return;         // none is met while it is open: there are no cycles
    stack.push_back({node, false, 0});  // first, as it may throw
    const TapeNode::Entered entered = node->enter();
    stack.back().first = entered == TapeNode::Entered::kFirst;
    if (entered == TapeNode::Entered::kFreed) {
      stack.pop_back();
      throw Error(ErrorCode::kValue, "backward",
                  "given a graph of which a part was freed by an earlier backward, expected "
                  "retain_graph=True in that call");
    }
  };
  try {
    open(root);
    while (!stack.empty()) {
      auto& [node, first, next] = stack.back();
      if (next < node->inputs.size()) {
        open(static_cast<TapeNode*>(node->inputs[next++].node.get()));
        continue;
      }
      if (first)
        set_position(*node, order_.size());
      else
        shared_.emplace(node, order_.size());
      order_.push_back({Ref<TapeNode>(node)});
      stack.pop_back();
    }
  } catch (...) {
    // The last first: a node that this pass has not left holds what it uses, one that has been left
    // may be freed.
    for (const Open& entered : std::views::reverse(stack)) entered.node->leave();
    throw;
  }
}

void BackwardGraph::want_marked() {
  bool any = false;
  for (ReachedLeaf& leaf : leaves_) any |= leaf.wanted = leaf.node->request != Request::kNull;
  if (any) return;
  throw Error(ErrorCode::kValue, "backward",
              "given a graph without inputs that require gradients, expected at least one: "
              "attach_grad() with grad_req 'write' or 'add' marks them");
}

void BackwardGraph::want(InputRefs variables, bool allow_unused) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    ReachedLeaf* const leaf = reached(*variables[i]);
    if (leaf == nullptr && allow_unused) continue;
    if (leaf == nullptr) {
      throw Error(ErrorCode::kValue, "grad",
                  fmt::format("given variable {} from which the outputs do not depend, expected "
                              "an array marked with attach_grad() before it was used",
                              i));
    }
    if (leaf->node->request == Request::kNull) {
      throw Error(ErrorCode::kValue, "grad",
                  fmt::format("given variable {} with grad_req 'null', expected 'write' or "
                              "'add': nothing has been recorded of it",
                              i));
    }
    leaf->wanted = true;
  }
}

void BackwardGraph::mark_needed() {
  for (Visit& visit : order_) {
    visit.first_output = num_outputs_;
    visit.first_input = input_leaves_.size();
    num_outputs_ += outputs_of(*visit.node);
    for (const ir::Entry& input : visit.node->inputs) {
      const TapeNode& node = node_of(input);
      ReachedLeaf* const leaf = reached(node);
      input_leaves_.push_back(leaf);
      visit.needed |= needed(node, leaf);
    }
  }
}

std::size_t BackwardGraph::outputs_of(const TapeNode& node) {
  return node.kind() == TapeNode::Kind::kOperation
             ? static_cast<const OperationNode&>(node).output_types.size()
             : static_cast<const FunctionNode&>(node).output_types.size();
}

}  // namespace mxnet
