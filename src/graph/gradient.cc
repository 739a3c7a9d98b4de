// SPDX-License-Identifier: Apache-2.0
// Reverse sweep: collects the gradients of every value, sums them, and asks each operator's rule
// for those of its inputs.
#include "graph/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "graph/indexed_graph.h"
#include "op/grad.h"
#include "op/named_errors.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// What is known of a node of a graph with types.
class NodeTypes final : public ForwardTypes {
 public:
  NodeTypes(const IndexedGraph& graph, std::span<const ArrayType> types, int node)
      : inputs_(graph.inputs(node)), types_(types), output_(type(graph.first_entry(node))) {}
  bool same_shape(int in) const override { return input(in).shape == output_.shape; }
  bool same_dtype(int in) const override { return input(in).dtype == output_.dtype; }
  bool floating() const override { return is_floating(output_.dtype); }

 private:
  const ArrayType& type(int entry) const { return types_[static_cast<std::size_t>(entry)]; }
  const ArrayType& input(int in) const { return type(inputs_[static_cast<std::size_t>(in)]); }

  const std::span<const int> inputs_;
  const std::span<const ArrayType> types_;
  const ArrayType& output_;
};

class GradientBuilder {
 public:
  GradientBuilder(const ir::Graph& forward, std::span<const ir::Entry> wrt,
                  const GradientOptions& options)
      : graph_(forward),
        order_(ir::topological_order(forward.outputs)),
        options_(options),
        terms_(static_cast<std::size_t>(graph_.num_entries())),
        wanted_(static_cast<std::size_t>(graph_.num_entries())) {
    for (const ir::Entry& entry : wrt)
      if (graph_.contains(*entry.node)) wanted_[index(entry)] = true;
    for (int n = 0; n < graph_.num_nodes(); ++n) {
      const std::span<const int> inputs = graph_.inputs(n);
      const bool leads = std::any_of(inputs.begin(), inputs.end(),
                                     [&](int e) { return wanted_[static_cast<std::size_t>(e)]; });
      for (int o = 0; leads && o < graph_.num_outputs(n); ++o) {
        const int entry = graph_.first_entry(n) + o;
        wanted_[static_cast<std::size_t>(entry)] = true;
      }
    }
  }

  void add(const ir::Entry& entry, Value gradient) {
    if (gradient && wanted_[index(entry)]) terms_[index(entry)].push_back(std::move(gradient));
  }
  void sweep() {
    for (int n = graph_.num_nodes() - 1; n >= 0; --n)
      if (!graph_.node(n).is_variable()) differentiate(n);
  }
  // What moves states, and is no part of a gradient that is differentiated again.
  std::span<const ir::Entry> asides() const { return asides_; }
  // The sum of all that has arrived.
  Value total(const ir::Entry& entry) {
    if (!graph_.contains(*entry.node)) return {};  // nothing depends on it
    return sum(&terms_[index(entry)], entry.node->name);
  }

 private:
  std::size_t index(const ir::Entry& entry) const {
    return static_cast<std::size_t>(graph_.entry(entry));
  }

  void differentiate(int n) {
    const Ref<ir::Node> node(order_[static_cast<std::size_t>(n)]);
    const auto wants = std::make_unique<bool[]>(node->inputs.size());  // vector<bool> has no span
    bool any_wanted = false, any_given = false;
    for (std::size_t i = 0; i < node->inputs.size(); ++i)
      any_wanted |= wants[i] = wanted_[index(node->inputs[i])];
    std::vector<Value> douts(static_cast<std::size_t>(graph_.num_outputs(n)));
    for (std::size_t o = 0; o < douts.size(); ++o) {
      douts[o] = total({node, static_cast<int32_t>(o), 0});
      any_given |= static_cast<bool>(douts[o]);
    }
    const Unasked alone = any_given ? Unasked::kNothing : node->op->unasked();
    if (!any_wanted || (!any_given && alone == Unasked::kNothing)) return;
    if (!node->op->has_gradient()) {
      throw Error(ErrorCode::kValue, title_of(*node),
                  "given a gradient to pass on, expected a differentiable operator: this one has "
                  "no gradient");
    }
    std::optional<NodeTypes> types;
    if (!options_.types.empty()) types.emplace(graph_, options_.types, n);
    Grad grad(node->inputs.data(), static_cast<int>(node->inputs.size()), node, douts,
              {wants.get(), node->inputs.size()}, options_.differentiable,
              types ? &*types : nullptr);
    Gradients gradients =
        told_by(*node->op, [&] { return node->op->gradient(node->params.get(), grad); });
    // Zeros go no further than they must for the node to run.
    const auto stays = [&](std::size_t i) {
      return wants[i] && node->inputs[i].node->is_variable();
    };
    bool any_stays = false;
    for (std::size_t i = 0; alone == Unasked::kStates && i < gradients.size(); ++i)
      any_stays |= gradients[i] && stays(i);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i] || !wants[i] || (any_stays && !stays(i))) continue;
      name_new_nodes(gradients[i].entry(), node->name + "_backward");
      if (alone == Unasked::kStates && options_.differentiable) {
        asides_.push_back(gradients[i].entry());  // zeros that depend on nothing
        continue;
      }
      add(node->inputs[i], std::move(gradients[i]));
    }
  }

  // What a rule has made is what has no name yet.
  static void name_new_nodes(const ir::Entry& root, const std::string& name) {
    std::vector<ir::Node*> open{root.node.get()};
    while (!open.empty()) {
      ir::Node* node = open.back();
      open.pop_back();
      if (node->is_variable() || !node->name.empty()) continue;
      node->name = name;
      for (const ir::Entry& input : node->inputs) open.push_back(input.node.get());
    }
  }

  Value sum(std::vector<Value>* terms, const std::string& name) {
    if (terms->empty()) return {};
    if (terms->size() == 1) return terms->front();
    Value total;
    if (static_cast<int>(terms->size()) <= options_.inplace_sum_cap) {
      total = mxnet::apply("add_n", *terms);
    } else {
      for (const Value& term : *terms) total = total + term;
    }
    name_new_nodes(total.entry(), name + "_grad_sum");
    *terms = {total};
    return total;
  }

  const IndexedGraph graph_;
  const std::vector<ir::Node*> order_;  // the same order as graph_'s, for nodes as owners
  const GradientOptions options_;
  std::vector<std::vector<Value>> terms_;
  std::vector<ir::Entry> asides_;
  std::vector<bool> wanted_;  // the value depends on one of `wrt`
};

}  // namespace

std::vector<ir::Entry> gradient(const ir::Graph& forward, std::span<const ir::Entry> head_grads,
                                std::span<const ir::Entry> wrt, const GradientOptions& options) {
  MX_ASSERT(head_grads.size() == forward.outputs.size());
  GradientBuilder builder(forward, wrt, options);
  for (std::size_t o = 0; o < head_grads.size(); ++o) {
    const ir::Entry& output = forward.outputs[o];
    Value head(head_grads[o]);
    if (!head && options.ones_for_null) {
      head = apply("ones_like", {Value(output)});
      head.entry().node->name = output.node->name + "_head_grad";
    }
    builder.add(output, std::move(head));
  }
  builder.sweep();
  std::vector<ir::Entry> gradients;
  gradients.reserve(wrt.size());
  for (const ir::Entry& entry : wrt) gradients.push_back(builder.total(entry).entry());
  gradients.insert(gradients.end(), builder.asides().begin(), builder.asides().end());
  return gradients;
}

}  // namespace mxnet
