// SPDX-License-Identifier: Apache-2.0
// Levels of the backward part, and the nodes that are pulled in when they are needed.
#include "graph/memory_plan_order.h"

#include <algorithm>
#include <map>

#include "op/create/constant.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// What is there before the graph runs.
bool is_given(const ir::Node& node) { return node.is_variable() || is_constant(node); }

// Losses that are outputs need no gradient to begin with (SoftmaxOutput); what is computed again
// are operators of the forward part.
bool begins_gradients(const ir::Node& node) { return node.op->name().starts_with("_backward_"); }

class BackwardOrder {
 public:
  BackwardOrder(const IndexedGraph& graph, int first) : graph_(graph), first_(first) {
    const auto count = static_cast<std::size_t>(graph.num_nodes());
    level_.resize(count);
    listed_.resize(count);
    read_.resize(count);
    before_.resize(count);
    for (int n = 0; n < graph.num_nodes(); ++n)
      for (int entry : graph.inputs(n))
        read_[static_cast<std::size_t>(graph.node_of(entry))] = true;
    keep_turns();
  }

  void append_to(std::vector<int>* nodes) {
    std::vector<int> roots;  // what is a gradient or depends on one, by level
    for (int n = first_; n < graph_.num_nodes(); ++n) {
      const ir::Node& node = graph_.node(n);
      int& level = level_[static_cast<std::size_t>(n)];
      if (node.is_variable()) {
        level = 1;  // a head gradient: other variables belong to the forward part
        continue;
      }
      if (begins_gradients(node)) level = 1;
      for (int entry : graph_.inputs(n)) {
        const int before = level_[static_cast<std::size_t>(graph_.node_of(entry))];
        if (before > 0) level = std::max(level, before + 1);
      }
      if (level > 0) roots.push_back(n);
    }
    // Of one level, what is a result and nothing else comes first: it only frees what it reads.
    const auto rank = [&](int n) {
      return std::pair(level_[static_cast<std::size_t>(n)], read_[static_cast<std::size_t>(n)]);
    };
    std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) { return rank(a) < rank(b); });
    for (int n : roots) list(n, nodes);
    for (int n = first_; n < graph_.num_nodes(); ++n) list(n, nodes);  // what nothing above uses
  }

 private:
  // Who reads or writes a state that this part writes does so in the order of the graph: one
  // layer's averages may be moved in several places.
  void keep_turns() {
    struct Users {
      int writer = -1;           // the last one so far
      std::vector<int> readers;  // since then
    };
    std::map<int, Users> states;
    for (int n = first_; n < graph_.num_nodes(); ++n)
      for (const int entry : graph_.mutated(n)) states.try_emplace(entry);
    if (states.empty()) return;
    for (int n = first_; n < graph_.num_nodes(); ++n) {
      const auto& written = graph_.mutated(n);
      std::vector<int>& before = before_[static_cast<std::size_t>(n)];
      for (const int entry : graph_.inputs(n)) {
        const auto at = states.find(entry);
        if (at == states.end()) continue;
        Users& users = at->second;
        if (users.writer >= 0 && users.writer != n) before.push_back(users.writer);
        if (std::ranges::find(written, entry) == written.end()) {
          users.readers.push_back(n);
        } else {
          before.insert(before.end(), users.readers.begin(), users.readers.end());
          users = {.writer = n, .readers = {}};
        }
      }
    }
  }

  // The node after all that it needs; iterative, as graphs are deep.
  void list(int root, std::vector<int>* nodes) {
    std::vector<std::pair<int, std::size_t>> stack{{root, 0}};
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      if (n < first_ || is_given(graph_.node(n)) || listed_[static_cast<std::size_t>(n)]) {
        stack.pop_back();
      } else if (next < graph_.inputs(n).size()) {
        stack.emplace_back(graph_.node_of(graph_.inputs(n)[next++]), 0);
      } else if (const auto& before = before_[static_cast<std::size_t>(n)];
                 next < graph_.inputs(n).size() + before.size()) {
        stack.emplace_back(before[next++ - graph_.inputs(n).size()], 0);
      } else {
        listed_[static_cast<std::size_t>(n)] = true;
        nodes->push_back(n);
        stack.pop_back();
      }
    }
  }

  const IndexedGraph& graph_;
  const int first_;
  std::vector<int> level_;  // 0 = needs no gradient
  std::vector<bool> listed_;
  std::vector<char> read_;                // another node reads one of its results
  std::vector<std::vector<int>> before_;  // nodes whose turn at a state comes first
};

// Sorts by the number of nodes on the longest way to each, turns included (graph/draw_order.h).
void sort_by_depth(const IndexedGraph& graph, std::vector<int>* nodes) {
  std::vector<int> depth(static_cast<std::size_t>(graph.num_nodes()));
  for (int n : *nodes) {
    int& here = depth[static_cast<std::size_t>(n)];
    const auto follows = [&](int m) {
      here = std::max(here, depth[static_cast<std::size_t>(m)] + 1);
    };
    for (int entry : graph.inputs(n)) follows(graph.node_of(entry));
    for (const auto& dep : graph.node(n).control_deps()) follows(graph.index_of(*dep));
  }
  std::ranges::stable_sort(*nodes, {}, [&](int n) { return depth[static_cast<std::size_t>(n)]; });
}

}  // namespace

Schedule schedule_nodes(const IndexedGraph& graph, int forward_outputs, Pace pace) {
  const std::vector<ir::Entry>& outputs = graph.graph().outputs;
  const auto count = std::min(static_cast<std::size_t>(forward_outputs), outputs.size());
  // Depth first from the outputs in order: what the first ones need is a prefix of the graph.
  const auto first = static_cast<int>(
      ir::topological_order(std::span<const ir::Entry>(outputs).first(count)).size());
  Schedule schedule;
  for (int n = 0; n < first; ++n)
    if (!is_given(graph.node(n))) schedule.nodes.push_back(n);
  // Who reads a value before it is written goes on doing so.
  const auto writes = [&](int n) { return !graph.mutated(n).empty(); };
  if (pace == Pace::kAbreast && std::ranges::none_of(schedule.nodes, writes))
    sort_by_depth(graph, &schedule.nodes);
  schedule.num_forward = static_cast<int>(schedule.nodes.size());
  BackwardOrder(graph, first).append_to(&schedule.nodes);
  return schedule;
}

}  // namespace mxnet
