// SPDX-License-Identifier: Apache-2.0
// Groups are grown from their last node backwards. A value joins the group of one of its readers
// if every other reader is in the group too or comes after the group's last node. So nothing that
// a group reads can depend on it: a reader outside comes later than all that is inside, and
// positions only grow along a way through the graph.
#include "graph/fuse_pointwise.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "graph/memory_plan_order.h"
#include "graph/rewrite.h"
#include "op/fused/pointwise.h"
#include "op/pointwise.h"

namespace mxnet {
namespace {

constexpr int kMostInputs = 16, kMostOutputs = 32;  // of one group

struct Group {
  int last = -1;  // the node that stands for it
  bool forward = false;
  std::vector<int> nodes;  // ascending once complete
};

class Grouping {
 public:
  Grouping(const IndexedGraph& graph, const std::vector<ArrayType>& types,
           const PointwiseOptions& options)
      : graph_(graph),
        types_(types),
        options_(options),
        group_of_(static_cast<std::size_t>(graph.num_nodes()), -1),
        forward_(group_of_.size(), false),
        readers_(group_of_.size()),
        delivered_(group_of_.size(), false) {
    const Schedule schedule = schedule_nodes(graph, options.forward_outputs);
    for (int i = 0; i < schedule.num_forward; ++i)
      forward_[index(schedule.nodes[static_cast<std::size_t>(i)])] = true;
    for (int n = 0; n < graph.num_nodes(); ++n)
      for (const int entry : graph.inputs(n)) readers_[index(graph.node_of(entry))].push_back(n);
    for (const int entry : graph.outputs()) delivered_[index(graph.node_of(entry))] = true;
    for (int n = graph.num_nodes() - 1; n >= 0; --n)
      if (is_candidate(n) && !(options.fixed && options.fixed(n))) place(n);
    for (Group& group : groups_) std::sort(group.nodes.begin(), group.nodes.end());
  }

  // Null for nodes that stay alone.
  const Group* group_of(int n) const {
    const int g = group_of_[index(n)];
    return g < 0 || groups_[index(g)].nodes.size() < 2 ? nullptr : &groups_[index(g)];
  }
  bool contains(const Group& group, int n) const { return group_of(n) == &group; }
  // Whether the value of a node is read outside of its group.
  bool is_result(const Group& group, int n) const {
    return n == group.last || delivered_[index(n)] ||
           std::any_of(readers_[index(n)].begin(), readers_[index(n)].end(),
                       [&](int reader) { return !contains(group, reader); });
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  const ArrayType& type(int entry) const { return types_[index(entry)]; }
  const Shape& shape(int n) const { return type(graph_.first_entry(n)).shape; }

  bool is_candidate(int n) const {
    const ir::Node& node = graph_.node(n);
    if (node.is_variable() || pointwise_kernel(*node.op) == nullptr ||
        !node.control_deps().empty() || !graph_.mutated(n).empty() || graph_.num_outputs(n) != 1 ||
        shape(n).size() == 0)
      return false;
    return std::all_of(graph_.inputs(n).begin(), graph_.inputs(n).end(), [&](int entry) {
      const int64_t elements = type(entry).shape.size();
      return elements == shape(n).size() || elements == 1;
    });
  }

  bool may_join(int n, const Group& group) const {
    if (shape(group.last) != shape(n) || group.forward != forward_[index(n)] ||
        static_cast<int>(group.nodes.size()) >=
            (group.forward ? options_.most_forward : options_.most_backward))
      return false;
    int results = 1, inputs = 0;
    for (const int member : group.nodes) {
      results += member != group.last && read_outside(member, group);
      for (const int entry : graph_.inputs(member))
        inputs += group_of_[index(graph_.node_of(entry))] != group_of_[index(member)];
    }
    inputs += static_cast<int>(graph_.inputs(n).size());
    return inputs <= kMostInputs && results < kMostOutputs &&
           std::all_of(readers_[index(n)].begin(), readers_[index(n)].end(), [&](int reader) {
             return reader > group.last || group_of_[index(reader)] == group_of_[index(group.last)];
           });
  }
  bool read_outside(int n, const Group& group) const {
    return delivered_[index(n)] ||
           std::any_of(readers_[index(n)].begin(), readers_[index(n)].end(), [&](int reader) {
             return group_of_[index(reader)] != group_of_[index(group.last)];
           });
  }

  void place(int n) {
    for (const int reader : readers_[index(n)]) {
      const int g = group_of_[index(reader)];
      if (g < 0 || !may_join(n, groups_[index(g)])) continue;
      group_of_[index(n)] = g;
      groups_[index(g)].nodes.push_back(n);
      return;
    }
    group_of_[index(n)] = static_cast<int>(groups_.size());
    groups_.push_back({n, forward_[index(n)], {n}});
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const PointwiseOptions& options_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;  // per node
  std::vector<bool> forward_;
  std::vector<std::vector<int>> readers_;
  std::vector<bool> delivered_;  // among the graph's outputs
};

// The node of a group. It is there from the first member on, because members are replaced one by
// one, and complete with the last.
struct Fused {
  Ref<ir::Node> node = make_ref<ir::Node>();
  std::shared_ptr<PointwiseChain> chain = std::make_shared<PointwiseChain>();
  std::unordered_map<int, int> step_of;   // by node
  std::unordered_map<int, int> input_of;  // by entry
  std::vector<int> results;               // steps that others read, but for the last

  // Output 0 is the last step's; the others follow in order.
  int add_result(int step) {
    results.push_back(step);
    return static_cast<int>(results.size());
  }
};

class Rewriter {
 public:
  Rewriter(const IndexedGraph& graph, const std::vector<ArrayType>& types, const Grouping& groups)
      : graph_(graph), types_(types), groups_(groups) {}

  Replacement replace(const ir::Node& original, const Ref<ir::Node>& node) {
    if (original.is_variable()) return std::nullopt;
    const int n = graph_.index_of(original);
    const Group* group = groups_.group_of(n);
    if (group == nullptr) return std::nullopt;
    Fused& fused = fused_[group];
    const int step = add_step(*group, n, original, *node, &fused);
    if (n == group->last) {
      finish(*group, step, &fused);
      return std::vector<ir::Entry>{{fused.node, 0, 0}};
    }
    const int output = groups_.is_result(*group, n) ? fused.add_result(step) : 0;
    return std::vector<ir::Entry>{{fused.node, output, 0}};
  }

 private:
  int add_step(const Group& group, int n, const ir::Node& original, const ir::Node& node,
               Fused* fused) {
    PointwiseStep step;
    step.op = original.op;
    step.params = original.params;
    step.dtype = types_[static_cast<std::size_t>(graph_.first_entry(n))].dtype;
    for (std::size_t i = 0; i < original.inputs.size(); ++i) {
      const int entry = graph_.inputs(n)[i];
      const int maker = graph_.node_of(entry);
      if (groups_.contains(group, maker)) {
        step.in.push_back(-1 - fused->step_of.at(maker));
        continue;
      }
      const auto [at, is_new] =
          fused->input_of.try_emplace(entry, static_cast<int>(fused->node->inputs.size()));
      if (is_new) {
        const ArrayType& type = types_[static_cast<std::size_t>(entry)];
        fused->node->inputs.push_back(node.inputs[i]);
        fused->chain->inputs.push_back({type.dtype, type.shape.size() == 1});
      }
      step.in.push_back(at->second);
    }
    const int number = static_cast<int>(fused->chain->steps.size());
    fused->chain->steps.push_back(std::move(step));
    fused->step_of.emplace(n, number);
    return number;
  }

  void finish(const Group& group, int last_step, Fused* fused) const {
    PointwiseChain& chain = *fused->chain;
    chain.outputs = {last_step};
    chain.outputs.insert(chain.outputs.end(), fused->results.begin(), fused->results.end());
    chain.shape = types_[static_cast<std::size_t>(graph_.first_entry(group.last))].shape;
    chain.finish();
    ir::Node& node = *fused->node;
    node.op = &Registry::get().at(PointwiseChain::kName);
    node.name = graph_.node(group.nodes.front()).name + "+" + graph_.node(group.last).name;
    node.params = std::move(fused->chain);
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const Grouping& groups_;
  std::unordered_map<const Group*, Fused> fused_;
};

}  // namespace

PointwiseFusion fuse_pointwise(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                               const PointwiseOptions& options) {
  const Grouping groups(graph, types, options);
  Rewriter rewriter(graph, types, groups);
  PointwiseFusion result;
  result.graph = rewrite(graph.graph(), [&](const ir::Node& original, const Ref<ir::Node>& node) {
    Replacement replacement = rewriter.replace(original, node);
    if (replacement) {
      result.changed = true;
    } else {
      result.kept.emplace(node.get(), graph.index_of(original));
    }
    return replacement;
  });
  return result;
}

}  // namespace mxnet
