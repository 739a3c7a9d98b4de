// SPDX-License-Identifier: Apache-2.0
// Candidates, each a choice of the forward nodes whose values are kept, and the graphs that follow
// from them.
#include "graph/mirror.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "base/stable_order.h"
#include "graph/infer.h"
#include "graph/split_gradients.h"
#include "op/create/constant.h"
#include "op/inline_vector.h"
#include "op/op_cost.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// Segment counts that are tried; more cuts than this keep as much as they save.
constexpr int kMostSegments = 24;
// What may be computed more than twice: at most this part of the cost of all, and at least this
// part of the bytes of the best plan so far.
constexpr double kCheapPart = 0.02, kWidePart = 1.0 / 8;

std::size_t bytes_of(const ArrayType& type) {
  return static_cast<std::size_t>(type.shape.size()) * dtype_size(type.dtype);
}

// Types of all entries of `graph`, whose variables are some of those of `from`.
std::vector<ArrayType> types_in(const IndexedGraph& graph, const IndexedGraph& from,
                                const std::vector<ArrayType>& from_types) {
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  for (int n : graph.variables())
    types[static_cast<std::size_t>(graph.first_entry(n))] =
        from_types[static_cast<std::size_t>(from.first_entry(from.index_of(graph.node(n))))];
  const bool complete = infer_graph(graph, &types);
  MX_ASSERT(complete);
  return types;
}

// A graph that computes the same, what it needs, and what it computes again.
struct Candidate {
  ir::Graph graph;
  std::size_t bytes = 0;
  double cost = 0;
};

// Keeps no memory of the plan's.
bool is_given(const ir::Node& node) { return node.is_variable() || is_constant(node); }

class Mirror {
 public:
  Mirror(const IndexedGraph& graph, const std::vector<ArrayType>& types, int forward_outputs,
         const MirrorOptions& options)
      : graph_(graph), types_(types), options_(options) {
    const std::vector<ir::Entry>& outputs = graph.graph().outputs;
    num_forward_ = static_cast<int>(
        ir::topological_order(std::span(outputs).first(static_cast<std::size_t>(forward_outputs)))
            .size());
    must_keep_.resize(static_cast<std::size_t>(graph.num_nodes()), true);
    for (int n = 0; n < num_forward_; ++n) {
      const ir::Node& node = graph.node(n);
      must_keep_[static_cast<std::size_t>(n)] = is_given(node) ||
                                                node.op->uses_random(node.params.get(), true) ||
                                                !graph.mutated(n).empty();
    }
    // What the caller gets is kept in any case.
    for (std::size_t o = 0; o < static_cast<std::size_t>(forward_outputs); ++o)
      must_keep_[static_cast<std::size_t>(graph.index_of(*outputs[o].node))] = true;
  }

  // The graph as it is, with cheap operators computed again, and in segments.
  void run() {
    best_ = {graph_.graph(), options_.bytes(graph_, types_), 0};
    if (options_.cheap) consider(cheap());
    if (options_.segments)
      for (int count = 2; count <= most_segments(); ++count) consider(segments(count));
    keep_more();
  }
  // Better ones than `best`, in which backward may also compute wide values once for each reader.
  void improve(Candidate best) {
    best_ = std::move(best);
    for (const bool again : {false, true}) {
      again_ = again;
      for (int count = 1; count <= most_segments(); ++count) consider(segments(count));
    }
    keep_more();
  }
  Candidate& best() { return best_; }
  bool within_budget() const { return options_.budget > 0 && best_.bytes <= options_.budget; }

 private:
  int most_segments() const { return std::min(kMostSegments, num_forward_); }

  using Keep = std::vector<bool>;  // per node: its results are kept for backward

  // --- policies --------------------------------------------------------------------------------

  Keep cheap() const {
    Keep keep = must_keep_;
    for (int n = 0; n < num_forward_; ++n)
      if (!graph_.node(n).is_variable() && sums_products(*graph_.node(n).op))
        keep[static_cast<std::size_t>(n)] = true;
    return keep;
  }

  // Cuts the forward part into `count` runs of about the same bytes, each cut where as little as
  // possible crosses it; what crosses is kept.
  Keep segments(int count) const {
    Keep keep = must_keep_;
    std::vector<int> last_use(static_cast<std::size_t>(num_forward_));
    std::vector<double> made(static_cast<std::size_t>(num_forward_) + 1);
    for (int n = 0; n < num_forward_; ++n) {
      for (int entry : graph_.inputs(n))
        last_use[static_cast<std::size_t>(graph_.node_of(entry))] = n;
      made[static_cast<std::size_t>(n) + 1] = made[static_cast<std::size_t>(n)] + bytes_made(n);
    }
    const double all = made.back();
    // Bytes that cross behind node n.
    const auto crossing = [&](int n) {
      double bytes = 0;
      for (int m = 0; m <= n; ++m)
        if (!graph_.node(m).is_variable() && last_use[static_cast<std::size_t>(m)] > n)
          bytes += bytes_made(m);
      return bytes;
    };
    for (int cut = 1; cut < count; ++cut) {
      const double from = all * (cut - 0.5) / count, to = all * (cut + 0.5) / count;
      int best = -1;
      double least = std::numeric_limits<double>::max();
      for (int n = 0; n < num_forward_; ++n) {
        const double here = made[static_cast<std::size_t>(n) + 1];
        if (here < from || here > to) continue;
        if (const double bytes = crossing(n); bytes < least) {
          least = bytes;
          best = n;
        }
      }
      for (int m = 0; m <= best; ++m)
        if (last_use[static_cast<std::size_t>(m)] > best) keep[static_cast<std::size_t>(m)] = true;
    }
    return keep;
  }

  // What fits into the budget beside the best candidate is kept after all, what costs most for its
  // bytes first.
  void keep_more() {
    if (best_keep_.empty() || !within_budget()) return;
    std::vector<int> nodes;
    std::vector<double> worth;
    for (int n = 0; n < num_forward_; ++n) {
      if (best_keep_[static_cast<std::size_t>(n)] || !sums_products(*graph_.node(n).op)) continue;
      nodes.push_back(n);
      worth.push_back(cost(n) / bytes_made(n));
    }
    again_ = best_again_;
    for (const std::size_t place : places_by_descending(worth)) {
      Keep keep = best_keep_;
      keep[static_cast<std::size_t>(nodes[place])] = true;
      consider(keep);
    }
  }

  double bytes_made(int n) const {
    if (is_given(graph_.node(n))) return 0;
    double bytes = 0;
    for (int o = 0; o < graph_.num_outputs(n); ++o) {
      const int entry = graph_.first_entry(n) + o;
      bytes += static_cast<double>(bytes_of(types_[static_cast<std::size_t>(entry)]));
    }
    return bytes;
  }

  double cost(int n) const {
    InlineVector<const ArrayType*, 8> inputs;
    for (int entry : graph_.inputs(n)) inputs.push_back(&types_[static_cast<std::size_t>(entry)]);
    return elementary_operations(*graph_.node(n).op, inputs.span(),
                                 types_[static_cast<std::size_t>(graph_.first_entry(n))]);
  }

  // --- graphs ----------------------------------------------------------------------------------

  // Keeps the candidate if it is better than the best so far.
  void consider(const Keep& keep) {
    double cost = 0;
    const IndexedGraph candidate(rebuild(keep, &cost));
    // Planning is what a search spends its time on.
    if (within_budget() && cost >= best_.cost) return;
    const std::vector<ArrayType> types = types_in(candidate, graph_, types_);
    const std::size_t bytes = options_.bytes(candidate, types);
    const bool fits = bytes <= options_.budget, best_fits = best_.bytes <= options_.budget;
    const bool better = options_.budget == 0 || (!fits && !best_fits)
                            ? bytes < best_.bytes
                            : fits && (!best_fits || cost < best_.cost);
    if (!better) return;
    best_ = {candidate.graph(), bytes, cost};
    best_keep_ = keep;
    best_again_ = again_;
  }

  // The graph in which backward reads copies of all nodes that are not kept.
  ir::Graph rebuild(const Keep& keep, double* cost) {
    keep_ = &keep;
    copies_.clear();
    cost_ = 0;
    const std::vector<int> transient = again_ ? wide_and_cheap() : std::vector<int>();
    for (int n = num_forward_; n < graph_.num_nodes(); ++n) {
      if (graph_.node(n).is_variable()) continue;
      copy(n);
      for (int m : transient) copies_.erase(m);  // whoever else reads it makes one of his own
    }
    ir::Graph result;
    for (const ir::Entry& output : graph_.graph().outputs) {
      const auto found = copies_.find(graph_.index_of(*output.node));
      const bool backward = graph_.index_of(*output.node) >= num_forward_;
      result.outputs.push_back(backward && found != copies_.end()
                                   ? ir::Entry{found->second, output.index, output.version}
                                   : output);
    }
    *cost = cost_;
    return result;
  }

  // Nodes that are computed again from what is kept at a small part of the cost of all, and whose
  // results are large enough to matter where the plan is largest.
  std::vector<int> wide_and_cheap() const {
    std::vector<double> chain(static_cast<std::size_t>(num_forward_));
    double all = 0;
    for (int n = 0; n < num_forward_; ++n) {
      if (is_given(graph_.node(n))) continue;
      const double own = cost(n);
      all += own;
      if ((*keep_)[static_cast<std::size_t>(n)]) continue;
      double& here = chain[static_cast<std::size_t>(n)];
      here = own;
      for (int entry : graph_.inputs(n))
        here += chain[static_cast<std::size_t>(graph_.node_of(entry))];
    }
    std::vector<int> nodes;
    for (int n = 0; n < num_forward_; ++n) {
      const double cost = chain[static_cast<std::size_t>(n)];
      if (cost > 0 && cost <= kCheapPart * all &&
          bytes_made(n) >= kWidePart * static_cast<double>(best_.bytes))
        nodes.push_back(n);
    }
    return nodes;
  }

  // The value that a copied node reads for entry e.
  ir::Entry source(const ir::Entry& e) {
    const int n = graph_.index_of(*e.node);
    if (graph_.node(n).is_variable() || (n < num_forward_ && (*keep_)[static_cast<std::size_t>(n)]))
      return e;
    return {copies_.at(n), e.index, e.version};
  }

  bool has_source(const ir::Entry& e) const {
    const int n = graph_.index_of(*e.node);
    return graph_.node(n).is_variable() ||
           (n < num_forward_ && (*keep_)[static_cast<std::size_t>(n)]) || copies_.contains(n);
  }

  // Copies node `root` and, before it, the forward nodes that it needs and nobody has kept.
  void copy(int root) {
    std::vector<int> stack{root};
    while (!stack.empty()) {
      const int n = stack.back();
      if (copies_.contains(n)) {
        stack.pop_back();
        continue;
      }
      const ir::Node& node = graph_.node(n);
      const std::size_t before = stack.size();
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (!has_source(node.inputs[i]) && !only_type(node, i))
          stack.push_back(graph_.index_of(*node.inputs[i].node));
      if (stack.size() > before) continue;
      stack.pop_back();
      auto made = make_ref<ir::Node>();
      made->op = node.op;
      made->name = n < num_forward_ ? node.name + "_mirror" : node.name;
      made->attrs = node.attrs;
      made->params = node.params;
      made->extras = node.extras;
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        made->inputs.push_back(only_type(node, i) && !has_source(node.inputs[i])
                                   ? node.inputs[i]
                                   : source(node.inputs[i]));
      copies_.emplace(n, Ref<ir::Node>(made.get()));
      if (n < num_forward_) cost_ += this->cost(n);
    }
  }

  // A value of which nothing but the type is needed keeps no memory: no reason to compute it again.
  bool only_type(const ir::Node& node, std::size_t i) const {
    return node.op->type_only(static_cast<int>(i)) &&
           graph_.index_of(*node.inputs[i].node) < num_forward_;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const MirrorOptions& options_;
  int num_forward_ = 0;
  Keep must_keep_;
  const Keep* keep_ = nullptr;
  std::unordered_map<int, Ref<ir::Node>> copies_;
  double cost_ = 0;
  bool again_ = false;  // see wide_and_cheap()
  Candidate best_;
  Keep best_keep_;  // of `best_`; empty if it keeps all or comes from elsewhere
  bool best_again_ = false;
};

}  // namespace

ir::Graph mirror(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                 int forward_outputs, const MirrorOptions& options) {
  Mirror whole(graph, types, forward_outputs, options);
  whole.run();
  if (!options.segments || !options.split || whole.within_budget())
    return std::move(whole.best().graph);
  const IndexedGraph split(split_gradients(graph.graph()));
  const std::vector<ArrayType> split_types = types_in(split, graph, types);
  Mirror parts(split, split_types, forward_outputs, options);
  parts.improve(std::move(whole.best()));
  return std::move(parts.best().graph);
}

}  // namespace mxnet
