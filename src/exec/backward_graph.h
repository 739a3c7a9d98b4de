// SPDX-License-Identifier: Apache-2.0
// The graph that a backward pass goes through: what was recorded behind its heads, in order, and
// which of it gradients are to reach.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/backward.h"
#include "exec/grad_sum.h"
#include "exec/tape.h"

namespace mxnet {

// A leaf behind the heads, and what has come to it.
struct ReachedLeaf {
  explicit ReachedLeaf(LeafNode* leaf) : node(leaf), buffer(leaf->grad, leaf->request) {}
  const Ref<LeafNode> node;
  bool wanted = false;
  LeafBuffer buffer;
  GradSum sum;  // where the buffer cannot be used directly
};

// Used by the thread of one pass; an object lives for one call.
//
// Invariants:
//   1. order() holds inputs before users; this pass goes through its nodes until the end.
//   2. order() holds operations and functions, leaves() the leaves, each once.
//   3. A node's position is its scratch field; where another pass was there first, in shared_.
class BackwardGraph {
 public:
  struct Visit {
    Ref<TapeNode> node;
    bool needed = false;                            // a wanted leaf is behind it
    bool freed = false;                             // by this pass
    std::size_t first_output = 0, first_input = 0;  // among those of all nodes
  };

  BackwardGraph() = default;
  ~BackwardGraph();
  BackwardGraph(const BackwardGraph&) = delete;
  BackwardGraph& operator=(const BackwardGraph&) = delete;

  // Lists all nodes behind the heads and marks those through which wanted leaves are reached:
  // `variables`, or where there are none all that are marked. Called once, and first; throws
  // Error(kValue) for what cannot be differentiated, with `allow_unused` not for variables that no
  // head depends on.
  void collect(InputRefs heads, InputRefs variables, bool allow_unused);

  std::vector<Visit>& order() { return order_; }
  const std::vector<Visit>& order() const { return order_; }
  std::deque<ReachedLeaf>& leaves() { return leaves_; }
  const std::deque<ReachedLeaf>& leaves() const { return leaves_; }
  std::size_t num_outputs() const { return num_outputs_; }  // of all nodes in order()

  // REQUIRES: it is there.
  const Visit& visit_of(const TapeNode& node) const {
    const std::size_t at = position(node);
    return order_[at < order_.size() && order_[at].node.get() == &node ? at : shared_.at(&node)];
  }
  // Input `i` of a node, if it is a leaf.
  ReachedLeaf* input_leaf(const Visit& visit, std::size_t i) const {
    return input_leaves_[visit.first_input + i];
  }
  // The state of a leaf: null where a node is none, or a variable is not behind the heads.
  ReachedLeaf* reached(const TapeNode& node) {
    return node.kind() == TapeNode::Kind::kLeaf ? find(static_cast<const LeafNode*>(&node))
                                                : nullptr;
  }
  ReachedLeaf* reached(const NDArray& variable) { return find(leaf_of(variable)); }

  // Whether gradients are to flow to a node; `leaf` is its state, if it is one.
  bool needed(const TapeNode& node, const ReachedLeaf* leaf) const {
    if (leaf != nullptr) return leaf->wanted;
    return node.kind() != TapeNode::Kind::kConstant && visit_of(node).needed;
  }
  bool needed(const Visit& visit, std::size_t input) const {
    return needed(node_of(visit.node->inputs[input]), input_leaf(visit, input));
  }

  static const TapeNode& node_of(const ir::Entry& entry) {
    return *static_cast<const TapeNode*>(entry.node.get());
  }
  static std::size_t outputs_of(const TapeNode& node);

 private:
  // Of whichever pass was there first. Relaxed: only what the pass itself has written counts.
  static std::size_t position(const TapeNode& node) {
    return static_cast<std::size_t>(
        std::atomic_ref(const_cast<int32_t&>(node.scratch)).load(std::memory_order_relaxed));
  }
  static void set_position(TapeNode& node, std::size_t position) {
    std::atomic_ref(node.scratch).store(static_cast<int32_t>(position), std::memory_order_relaxed);
  }
  bool visited(const TapeNode& node) const {
    const std::size_t at = position(node);
    if (at < order_.size() && order_[at].node.get() == &node) return true;
    return !shared_.empty() && shared_.contains(&node);
  }
  void visit_behind(TapeNode* root);
  void want_marked();
  void want(InputRefs variables, bool allow_unused);
  void mark_needed();
  ReachedLeaf* find(const LeafNode* leaf) {
    const auto found = leaf_index_.find(leaf);
    return found == leaf_index_.end() ? nullptr : &leaves_[found->second];
  }

  std::vector<Visit> order_;
  std::unordered_map<const TapeNode*, std::size_t> shared_;
  std::size_t num_outputs_ = 0;
  std::vector<ReachedLeaf*> input_leaves_;  // per input of each node; null where it is no leaf
  std::deque<ReachedLeaf> leaves_;
  std::unordered_map<const LeafNode*, std::size_t> leaf_index_;
};

}  // namespace mxnet
