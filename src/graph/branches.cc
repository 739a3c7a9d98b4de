// SPDX-License-Identifier: Apache-2.0
// Longest paths, one after the other.
#include "graph/branches.h"

#include <algorithm>

#include "op/inline_vector.h"
#include "op/op_cost.h"

namespace mxnet {
namespace {

constexpr int kNone = -1;

class Coloring {
 public:
  Coloring(const IndexedGraph& graph, const std::vector<ArrayType>& types)
      : graph_(graph),
        types_(types),
        work_(static_cast<std::size_t>(graph.num_nodes())),
        color_(static_cast<std::size_t>(graph.num_nodes()), kNone) {
    for (int n = 0; n < graph_.num_nodes(); ++n) at(work_, n) = work(n);
  }

  std::vector<int> run(int colors) {
    for (int color = 0; color < colors; ++color)
      if (!color_longest_path(color)) break;
    for (int n = 0; n < graph_.num_nodes(); ++n)
      if (at(color_, n) == kNone) at(color_, n) = color_of_inputs(n);
    return std::move(color_);
  }

 private:
  template <class T>
  static T& at(std::vector<T>& all, int i) {
    return all[static_cast<std::size_t>(i)];
  }

  double work(int n) const {
    const ir::Node& node = graph_.node(n);
    if (node.is_variable()) return 0;
    InlineVector<const ArrayType*, 8> inputs;
    for (int entry : graph_.inputs(n)) inputs.push_back(&types_[static_cast<std::size_t>(entry)]);
    return elementary_operations(*node.op, inputs.span(),
                                 types_[static_cast<std::size_t>(graph_.first_entry(n))]);
  }

  bool is_open(int n) { return !graph_.node(n).is_variable() && at(color_, n) == kNone; }

  // False if every operator has a colour.
  bool color_longest_path(int color) {
    std::vector<double> longest(work_.size());
    std::vector<int> before(work_.size(), kNone);
    int last = kNone;
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      if (!is_open(n)) continue;
      for (int entry : graph_.inputs(n)) {
        const int m = graph_.node_of(entry);
        if (is_open(m) && at(longest, m) > at(longest, n)) {
          at(longest, n) = at(longest, m);
          at(before, n) = m;
        }
      }
      at(longest, n) += at(work_, n);
      if (last == kNone || at(longest, n) > at(longest, last)) last = n;
    }
    if (last == kNone) return false;
    for (int n = last; n != kNone; n = at(before, n)) at(color_, n) = color;
    return true;
  }

  // Of the latest operator among the inputs: they come earlier, so that all have theirs.
  int color_of_inputs(int n) {
    int latest = kNone;
    for (int entry : graph_.inputs(n)) {
      const int m = graph_.node_of(entry);
      if (!graph_.node(m).is_variable()) latest = std::max(latest, m);
    }
    return latest == kNone ? 0 : at(color_, latest);
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  std::vector<double> work_;  // per node
  std::vector<int> color_;
};

}  // namespace

std::vector<int> color_branches(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                                int colors) {
  return Coloring(graph, types).run(colors);
}

}  // namespace mxnet
