// SPDX-License-Identifier: Apache-2.0
// Nodes and entries of graphs: data, no algorithms. The tape of autograd, symbols and compiled
// graphs are all made of these.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ref.h"

namespace mxnet {

class OpDef;

namespace ir {

class Node;
struct Graph;

// One output of a node.
struct Entry {
  Ref<Node> node;
  int32_t index = 0;
  int32_t version = 0;  // counts in-place mutations of a variable, as saved in files

  explicit operator bool() const { return static_cast<bool>(node); }
  bool operator==(const Entry&) const = default;
};

// What few nodes have.
struct NodeExtras {
  std::vector<Ref<Node>> control_deps;                  // run before the node
  std::vector<std::shared_ptr<const Graph>> subgraphs;  // of control flow and of fused nodes
};

// A variable (no operator) or one application of an operator. Shared by graphs; immutable once it
// is in two.
class Node : public RefCounted {
 public:
  Node() = default;
  virtual ~Node();  // iterative: a chain of 10^6 nodes must not overflow the stack

  bool is_variable() const { return op == nullptr; }

  const OpDef* op = nullptr;
  std::string name;                                        // empty on the tape
  std::vector<std::pair<std::string, std::string>> attrs;  // as given, in order
  std::shared_ptr<const void> params;                      // parsed; null for variables
  std::vector<Entry> inputs;
  std::shared_ptr<const NodeExtras> extras;  // null for most
  std::span<const Ref<Node>> control_deps() const;
  std::span<const std::shared_ptr<const Graph>> subgraphs() const;
  // For an algorithm that owns the whole graph at the moment; meaningless to anybody else.
  int32_t scratch = -1;
};

}  // namespace ir
}  // namespace mxnet
