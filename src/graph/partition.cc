// SPDX-License-Identifier: Apache-2.0
// Grouping of selected nodes, and the nodes that stand for the groups.
#include "graph/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

#include "base/config.h"
#include "base/log.h"
#include "graph/fused_layer.h"
#include "graph/indexed_graph.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "graph/symbol.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "op/named_errors.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

class OperatorSelection final : public Partitioner {
 public:
  explicit OperatorSelection(const std::vector<std::string>& names) {
    for (const std::string& name : names) ops_.insert(&Registry::get().at(name));
  }
  bool selects(const ir::Node& node) const override { return ops_.count(node.op) > 0; }

 private:
  std::unordered_set<const OpDef*> ops_;
};

// The group of each node, -1 for those that stay. A node's stage counts how often the way to it has
// left a selected node for one that stays or is of another group. A way that leaves a group can
// only reach later stages, so that connected selected nodes of one stage never depend on
// themselves.
class Grouping {
 public:
  Grouping(const IndexedGraph& graph, const Partitioner& partitioner)
      : parent_(static_cast<std::size_t>(graph.num_nodes())), selected_(parent_.size()) {
    std::vector<int> group(parent_.size());
    std::iota(parent_.begin(), parent_.end(), 0);
    std::vector<int> stage(parent_.size());
    for (int n = 0; n < graph.num_nodes(); ++n) {
      const ir::Node& node = graph.node(n);
      const auto at = static_cast<std::size_t>(n);
      // Dependencies besides values stay outside.
      selected_[at] =
          !node.is_variable() && node.control_deps().empty() && partitioner.selects(node);
      if (selected_[at]) group[at] = partitioner.group(node);
      const auto joins = [&](std::size_t source) {
        return selected_[source] && selected_[at] && group[source] == group[at];
      };
      for (const int e : graph.inputs(n)) {
        const auto source = static_cast<std::size_t>(graph.node_of(e));
        const int leaves = selected_[source] && !joins(source) ? 1 : 0;
        stage[at] = std::max(stage[at], stage[source] + leaves);
      }
      for (const Ref<ir::Node>& dep : node.control_deps())
        stage[at] = std::max(stage[at], stage[static_cast<std::size_t>(graph.index_of(*dep))] + 1);
      if (!selected_[at]) continue;
      for (const int e : graph.inputs(n)) {
        const int source = graph.node_of(e);
        if (joins(static_cast<std::size_t>(source)) &&
            stage[static_cast<std::size_t>(source)] == stage[at])
          parent_[static_cast<std::size_t>(find(n))] = find(source);
      }
    }
  }
  bool selected(int n) const { return selected_[static_cast<std::size_t>(n)]; }
  // A number of the node's group, or the node's own.
  int unit(int n) { return selected(n) ? find(n) : n; }

 private:
  int find(int n) {
    while (parent_[static_cast<std::size_t>(n)] != n) {
      int& up = parent_[static_cast<std::size_t>(n)];
      n = up = parent_[static_cast<std::size_t>(up)];
    }
    return n;
  }
  std::vector<int> parent_;
  std::vector<bool> selected_;
};

// What a part computes, whatever its values are called.
std::string text_of_part(const ir::Graph& part) {
  std::string text;
  std::map<const ir::Node*, std::size_t> numbers;
  const auto add_entry = [&](const ir::Entry& entry) {
    text += fmt::format(" {}.{}", numbers.at(entry.node.get()), entry.index);
  };
  for (const ir::Node* node : ir::topological_order(part.outputs)) {
    numbers.emplace(node, numbers.size());
    text += node->is_variable() ? "variable" : node->op->name();
    for (const auto& [key, value] : node->attrs)
      text += fmt::format(" {}={}:{}", key, value.size(), value);
    for (const auto& inner : node->subgraphs())
      text += fmt::format(" {}", static_cast<const void*>(inner.get()));
    for (const ir::Entry& input : node->inputs) add_entry(input);
    text += '\n';
  }
  for (const ir::Entry& output : part.outputs) add_entry(output);
  return text;
}

class Partition {
 public:
  Partition(const ir::Graph& graph, const Partitioner& partitioner, bool share_equal)
      : share_equal_(share_equal),
        graph_(graph),
        order_(ir::topological_order(graph.outputs)),
        partitioner_(partitioner),
        op_(Registry::get().at(partitioner.subgraph_op())),
        grouping_(graph_, partitioner),
        members_(static_cast<std::size_t>(graph_.num_nodes())),
        now_(static_cast<std::size_t>(graph_.num_entries())) {
    for (int n = 0; n < graph_.num_nodes(); ++n)
      members_[static_cast<std::size_t>(grouping_.unit(n))].push_back(n);
    find_results();
  }

  ir::Graph run() {
    for (int unit : unit_order()) {
      const std::vector<int>& members = members_[static_cast<std::size_t>(unit)];
      if (grouping_.selected(members[0])) {
        make_part(members);
      } else {
        keep(members[0]);
      }
    }
    ir::Graph result;
    for (int entry : graph_.outputs()) result.outputs.push_back(now(entry));
    return result;
  }
  // What run() has done (MXNET_SUBGRAPH_VERBOSE).
  std::string summary() const {
    return fmt::format("partition: {} of {} nodes in {} parts{}", nodes_in_parts_,
                       graph_.num_nodes(), parts_, lines_);
  }

 private:
  ir::Entry& now(int entry) { return now_[static_cast<std::size_t>(entry)]; }

  // Values that somebody outside of their group reads.
  void find_results() {
    is_result_.resize(now_.size());
    for (int entry : graph_.outputs()) is_result_[static_cast<std::size_t>(entry)] = true;
    for (int n = 0; n < graph_.num_nodes(); ++n)
      for (int e : graph_.inputs(n))
        if (grouping_.unit(graph_.node_of(e)) != grouping_.unit(n))
          is_result_[static_cast<std::size_t>(e)] = true;
  }

  // Groups and nodes that stay, each after what it reads; depth first, so that order is kept.
  std::vector<int> unit_order() {
    std::vector<int> order;
    std::vector<char> state(members_.size());  // 1 = waits for others, 2 = done
    std::vector<int> stack;
    for (int root = 0; root < graph_.num_nodes(); ++root) {
      stack.push_back(grouping_.unit(root));
      while (!stack.empty()) {
        const int unit = stack.back();
        char& mine = state[static_cast<std::size_t>(unit)];
        if (mine != 0) {
          stack.pop_back();
          if (mine == 1) order.push_back(unit);
          mine = 2;
          continue;
        }
        mine = 1;
        for (int n : members_[static_cast<std::size_t>(unit)]) {
          const auto need = [&](int other) {
            const int source = grouping_.unit(other);
            if (state[static_cast<std::size_t>(source)] == 0) stack.push_back(source);
          };
          for (int e : graph_.inputs(n)) need(graph_.node_of(e));
          for (const Ref<ir::Node>& dep : graph_.node(n).control_deps())
            need(graph_.index_of(*dep));
        }
      }
    }
    return order;
  }

  void keep(int n) {
    ir::Node* const original = order_[static_cast<std::size_t>(n)];
    Ref<ir::Node> node(original);
    if (!original->inputs.empty() || original->extras) {
      node = copy_node(*original);
      for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        const int32_t version = node->inputs[i].version;
        node->inputs[i] = now(graph_.inputs(n)[i]);
        node->inputs[i].version = version;
      }
      renew_control_deps(node.get(), [&](const Ref<ir::Node>& dep) {
        return now(graph_.first_entry(graph_.index_of(*dep))).node;
      });
    }
    for (int o = 0; o < graph_.num_outputs(n); ++o) now(graph_.first_entry(n) + o) = {node, o, 0};
  }

  // A group as a graph of its own, and which entries of the whole its values and results are.
  struct Part {
    ir::Graph graph;
    std::map<int, ir::Entry> values;  // by entry
    std::vector<int> results;
  };
  Part copy_of(const std::vector<int>& members) {
    Part part;
    std::map<std::string, int> named;  // by name: how many variables begin with it
    for (int n : members) {
      Ref<ir::Node> node = copy_node(graph_.node(n));
      for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        const int e = graph_.inputs(n)[i];
        if (part.values.count(e) == 0) {
          Ref<ir::Node> variable(new VariableNode);
          const std::string name = entry_name(graph_.node(n).inputs[i]);
          variable->name = fmt::format("{}{}", name, named[name]++);
          part.values[e] = {std::move(variable), 0, 0};
        }
        node->inputs[i] = part.values[e];
      }
      for (int o = 0; o < graph_.num_outputs(n); ++o) {
        const int e = graph_.first_entry(n) + o;
        part.values[e] = {node, o, 0};
        if (!is_result_[static_cast<std::size_t>(e)]) continue;
        part.graph.outputs.push_back({node, o, 0});
        part.results.push_back(e);
      }
    }
    return part;
  }

  void make_part(const std::vector<int>& members) {
    Part inner = copy_of(members);
    Attrs attrs;
    if (!partitioner_.takes(inner.graph, seen_++, &attrs)) {
      for (const int n : members) keep(n);
      return;
    }
    // The graph's variables are listed in the order of its own walk.
    std::map<const ir::Node*, ir::Entry> outer_of;
    for (const auto& [e, entry] : inner.values)
      if (entry.node->is_variable()) outer_of[entry.node.get()] = now(e);
    Ref<ir::Node> part(new ir::Node);
    part->op = &op_;
    part->name = fmt::format("{}{}", op_.name(), parts_++);
    part->attrs = std::move(attrs);
    for (const ir::Node* variable : list_inputs(inner.graph).nodes)
      part->inputs.push_back(outer_of.at(variable));
    auto extras = std::make_shared<ir::NodeExtras>();
    extras->subgraphs.push_back(shared(std::move(inner.graph)));
    part->extras = std::move(extras);
    parse_node(part.get());
    describe(part->name, members);
    for (std::size_t o = 0; o < inner.results.size(); ++o)
      now(inner.results[o]) = {part, static_cast<int32_t>(o), 0};
  }

  std::shared_ptr<const ir::Graph> shared(ir::Graph part) {
    if (!share_equal_) return std::make_shared<const ir::Graph>(std::move(part));
    std::shared_ptr<const ir::Graph>& known = known_parts_[text_of_part(part)];
    if (!known) known = std::make_shared<const ir::Graph>(std::move(part));
    return known;
  }

  void describe(const std::string& name, const std::vector<int>& members) {
    nodes_in_parts_ += static_cast<int>(members.size());
    if (config().subgraph.verbose < 2) return;
    lines_ += fmt::format("\n  {}:", name);
    for (int n : members) lines_ += " " + title_of(graph_.node(n));
  }

  const bool share_equal_;
  const IndexedGraph graph_;
  const std::vector<ir::Node*> order_;
  const Partitioner& partitioner_;
  const OpDef& op_;
  Grouping grouping_;
  std::vector<std::vector<int>> members_;  // of each unit, in order
  std::vector<ir::Entry> now_;             // what stands for each entry
  std::vector<bool> is_result_;
  int seen_ = 0;  // parts, those that are not taken among them
  int parts_ = 0, nodes_in_parts_ = 0;
  std::string lines_;                                                    // one for each part
  std::map<std::string, std::shared_ptr<const ir::Graph>> known_parts_;  // by text
};

}  // namespace

std::unique_ptr<Partitioner> select_operators(const std::vector<std::string>& names) {
  return std::make_unique<OperatorSelection>(names);
}

ir::Graph partition(const ir::Graph& graph, const Partitioner& partitioner, bool share_equal) {
  return run_pass("partition", graph, configured_passes(), [&](const ir::Graph& whole) {
    Partition partition(whole, partitioner, share_equal);
    ir::Graph result = partition.run();
    if (config().subgraph.verbose > 0) log(LogLevel::kInfo, partition.summary());
    return result;
  });
}

ir::Graph inline_parts(const ir::Graph& graph) {
  return rewrite(graph, [](const ir::Node&, const Ref<ir::Node>& node) -> Replacement {
    if (node->is_variable()) return std::nullopt;
    if (std::vector<ir::Entry> lowered = lowered_attention(*node); !lowered.empty()) return lowered;
    if (const Ref<ir::Node> layer = lowered_layer(*node)) {
      std::vector<ir::Entry> results(
          static_cast<std::size_t>(layer->op->num_outputs(layer->params.get())), {layer, 0, 0});
      for (std::size_t o = 0; o < results.size(); ++o) results[o].index = static_cast<int>(o);
      return results;
    }
    if (!stands_for_graph(*node)) return std::nullopt;
    const ir::Graph inner = inline_parts(*node->subgraphs()[0]);  // as deep as files may nest
    const InputList inputs = list_inputs(inner);
    std::map<const ir::Node*, ir::Entry> outer;
    for (std::size_t i = 0; i < inputs.nodes.size(); ++i)
      outer[inputs.nodes[i]] = node->inputs.at(i);
    std::vector<ir::Entry> values =
        rewrite(inner, [&](const ir::Node& original, const Ref<ir::Node>&) -> Replacement {
          const auto at = outer.find(&original);
          if (at == outer.end()) return std::nullopt;
          return std::vector<ir::Entry>{at->second};
        }).outputs;
    // A fused layer's result, the copy of its last node, goes by the layer's name: calibration
    // watches it.
    if (is_fused_layer(*node)) values[0].node->name = node->name;
    return values;
  });
}

}  // namespace mxnet
