// SPDX-License-Identifier: Apache-2.0
// A graph as arrays: nodes and values by number, for algorithms that look at the whole of it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace mxnet {

// A snapshot; immutable, shared freely. Node n comes after all nodes that it reads. The outputs of
// a node have consecutive entry numbers, hidden ones included; a variable has one.
class IndexedGraph {
 public:
  explicit IndexedGraph(ir::Graph graph);

  const ir::Graph& graph() const { return graph_; }
  int num_nodes() const { return static_cast<int>(nodes_.size()); }
  int num_entries() const { return first_entry_.back(); }
  const ir::Node& node(int n) const { return *nodes_[static_cast<std::size_t>(n)]; }
  // Entries that node n reads, in order.
  std::span<const int> inputs(int n) const { return row(inputs_, first_input_, n); }
  int first_entry(int n) const { return first_entry_[static_cast<std::size_t>(n)]; }
  int num_outputs(int n) const { return first_entry(n + 1) - first_entry(n); }
  int node_of(int entry) const { return node_of_[static_cast<std::size_t>(entry)]; }
  // Number of an entry; REQUIRES that its node is in the graph.
  int entry(const ir::Entry& e) const { return first_entry(index_of(*e.node)) + e.index; }
  int index_of(const ir::Node& node) const;
  bool contains(const ir::Node& node) const { return find(node) != by_address_.end(); }
  // Entries that the graph is for, in order; one may occur twice.
  std::span<const int> outputs() const { return outputs_; }
  // Entries (of variables, or of intermediate values) that node n writes besides its outputs.
  std::span<const int> mutated(int n) const { return row(mutated_, first_mutated_, n); }

  // Nodes that are variables, in order, and of these the ones that no operator mutates (arguments)
  // and the others (auxiliary states).
  std::span<const int> variables() const { return variables_; }
  std::span<const int> arguments() const { return arguments_; }
  std::span<const int> auxiliary() const { return auxiliary_; }

 private:
  using Addresses = std::vector<std::pair<const ir::Node*, int>>;
  Addresses::const_iterator find(const ir::Node& node) const;
  static std::span<const int> row(const std::vector<int>& all, const std::vector<int>& first,
                                  int n) {
    const auto i = static_cast<std::size_t>(n);
    return std::span(all).subspan(static_cast<std::size_t>(first[i]),
                                  static_cast<std::size_t>(first[i + 1] - first[i]));
  }
  const ir::Graph graph_;
  std::vector<const ir::Node*> nodes_;  // alive through graph_
  Addresses by_address_;
  std::vector<int> first_entry_, node_of_, first_input_, inputs_, first_mutated_, mutated_,
      outputs_;
  std::vector<int> variables_, arguments_, auxiliary_;
};

}  // namespace mxnet
