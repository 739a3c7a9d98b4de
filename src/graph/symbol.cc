// SPDX-License-Identifier: Apache-2.0
// Making, listing and taking apart of symbols.
#include "graph/symbol.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "graph/rewrite.h"
#include "graph/subgraph_op.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "op/op_def.h"
#include "op/value_count.h"

namespace mxnet {

namespace {

std::vector<ir::Node*> inputs_of(const ir::Graph& graph, Symbol::Inputs which) {
  const InputList inputs = list_inputs(graph);
  std::vector<ir::Node*> nodes;
  for (std::size_t i = 0; i < inputs.nodes.size(); ++i) {
    if (which == Symbol::Inputs::kAll ||
        (which == Symbol::Inputs::kAuxiliary) == inputs.auxiliary[i])
      nodes.push_back(inputs.nodes[i]);
  }
  return nodes;
}

}  // namespace

Symbol Symbol::variable(std::string name) {
  Ref<ir::Node> node(new VariableNode);
  node->name = std::move(name);
  return Symbol(ir::Graph{{{std::move(node), 0, 0}}});
}

Symbol Symbol::atomic(const OpDef& op, Attrs attrs) {
  Ref<ir::Node> node(new ir::Node);
  node->op = &op;
  node->attrs = with_hidden_keys(std::move(attrs));
  parse_node(node.get());
  Symbol symbol;
  int count = num_visible_outputs(*node);
  if (count < 1 || count > kMostValues) count = 1;  // composing refuses what no network has
  for (int o = 0; o < count; ++o) symbol.graph_.outputs.push_back({node, o, 0});
  return symbol;
}

Symbol Symbol::group(std::span<const Symbol* const> symbols) {
  Symbol all;
  for (const Symbol* symbol : symbols) {
    all.graph_.outputs.insert(all.graph_.outputs.end(), symbol->graph_.outputs.begin(),
                              symbol->graph_.outputs.end());
  }
  return all;
}

Symbol Symbol::copy() const { return Symbol(copy_graph(graph_)); }

Symbol Symbol::output(std::size_t index) const {
  if (index >= graph_.outputs.size()) {
    throw Error(ErrorCode::kIndex, "symbol",
                fmt::format("given output {}, expected one of the {} there are", index,
                            graph_.outputs.size()));
  }
  return Symbol(ir::Graph{{graph_.outputs[index]}});
}

Symbol Symbol::internals() const {
  Symbol all;
  for (ir::Node* node : ir::topological_order(graph_.outputs)) {
    const Ref<ir::Node> owner(node);
    const int count = num_visible_outputs(*node);
    for (int o = 0; o < count; ++o) all.graph_.outputs.push_back({owner, o, mutations_of(*node)});
  }
  return all;
}

Symbol Symbol::children() const {
  Symbol all;
  std::unordered_set<const ir::Node*> seen;
  for (const ir::Entry& output : graph_.outputs) {
    if (!seen.insert(output.node.get()).second) continue;
    const auto& inputs = output.node->inputs;
    all.graph_.outputs.insert(all.graph_.outputs.end(), inputs.begin(), inputs.end());
  }
  return all;
}

ir::Node* Symbol::node() const {
  if (graph_.outputs.empty()) return nullptr;
  ir::Node* node = graph_.outputs[0].node.get();
  for (const ir::Entry& output : graph_.outputs)
    if (output.node.get() != node) return nullptr;
  return node;
}

std::vector<std::string> Symbol::list_outputs() const {
  std::vector<std::string> names;
  names.reserve(graph_.outputs.size());
  for (const ir::Entry& output : graph_.outputs) names.push_back(entry_name(output));
  return names;
}

std::vector<std::string> Symbol::list_inputs(Inputs which) const {
  std::vector<std::string> names;
  for (const ir::Node* node : inputs_of(graph_, which)) names.push_back(node->name);
  return names;
}

std::vector<Symbol> Symbol::input_symbols(Inputs which) const {
  std::vector<Symbol> symbols;
  for (ir::Node* node : inputs_of(graph_, which))
    symbols.push_back(Symbol(ir::Graph{{{Ref<ir::Node>(node), 0, mutations_of(*node)}}}));
  return symbols;
}

std::string Symbol::debug_text() const {
  if (graph_.outputs.size() == 1 && graph_.outputs[0].node->inputs.empty()) {
    const ir::Node& node = *graph_.outputs[0].node;
    return node.is_variable() ? fmt::format("Variable:{}\n", node.name)
                              : fmt::format("AtomicFunctor  Op:{}\n", node.op->name());
  }
  std::string text = "Symbol Outputs:\n";
  for (std::size_t o = 0; o < graph_.outputs.size(); ++o) {
    const ir::Entry& output = graph_.outputs[o];
    text += fmt::format("\toutput[{}]={}({})\n", o, output.node->name, output.index);
  }
  for (const ir::Node* node : ir::topological_order(graph_.outputs)) {
    if (node->is_variable()) {
      text += fmt::format("Variable:{}\n", node->name);
      continue;
    }
    text += fmt::format("--------------------\nOp:{}, Name={}\nInputs:\n", node->op->name(),
                        node->name);
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const ir::Entry& input = node->inputs[i];
      text += fmt::format("\targ[{}]={}({})", i, input.node->name, input.index);
      if (input.node->is_variable()) text += fmt::format(" version={}", input.version);
      text += '\n';
    }
    if (!node->attrs.empty()) {
      Attrs attrs = node->attrs;
      std::sort(attrs.begin(), attrs.end());
      text += "Attrs:\n";
      for (const auto& [key, value] : attrs) text += fmt::format("\t{}={}\n", key, value);
    }
    for (const Ref<ir::Node>& dep : node->control_deps())
      text += fmt::format("Control dep: {}\n", dep->name);
  }
  return text;
}

InputList list_inputs(const ir::Graph& graph) {
  InputList list;
  std::unordered_set<const ir::Node*> written;
  for (ir::Node* node : ir::topological_order(graph.outputs)) {
    if (node->is_variable()) {
      list.nodes.push_back(node);
      continue;
    }
    for (int i : node->op->state_inputs(node->params.get())) {
      if (static_cast<std::size_t>(i) < node->inputs.size())  // none yet on an atomic symbol
        written.insert(node->inputs[static_cast<std::size_t>(i)].node.get());
    }
  }
  for (const ir::Node* node : list.nodes) list.auxiliary.push_back(written.count(node) > 0);
  return list;
}

std::string entry_name(const ir::Entry& entry) {
  const ir::Node& node = *entry.node;
  if (node.is_variable()) return node.name;
  std::string name = output_name(node, entry.index);
  return node.name.empty() ? name : node.name + "_" + name;
}

int num_outputs(const ir::Node& node) {
  return node.is_variable() ? 1 : node.op->num_outputs(node.params.get());
}

int num_visible_outputs(const ir::Node& node) {
  return node.is_variable() ? 1 : node.op->num_visible_outputs(node.params.get());
}

Ref<ir::Node> copy_node(const ir::Node& node) {
  Ref<ir::Node> copy;
  if (node.is_variable()) {
    auto variable = make_ref<VariableNode>();
    variable->mutations = mutations_of(node);
    copy = variable;
  } else {
    copy = make_ref<ir::Node>();
  }
  copy->op = node.op;
  copy->name = node.name;
  copy->attrs = node.attrs;
  copy->params = node.params;
  copy->inputs = node.inputs;
  copy->extras = node.extras;
  return copy;
}

ir::Graph copy_graph(const ir::Graph& graph) {
  std::unordered_map<const ir::Node*, Ref<ir::Node>> copies;
  for (const ir::Node* node : ir::topological_order(graph.outputs)) {
    Ref<ir::Node> copy = copy_node(*node);
    for (ir::Entry& input : copy->inputs) input.node = copies.at(input.node.get());
    renew_control_deps(copy.get(), [&](const Ref<ir::Node>& dep) { return copies.at(dep.get()); });
    copies.emplace(node, std::move(copy));
  }
  ir::Graph result = graph;
  for (ir::Entry& output : result.outputs) output.node = copies.at(output.node.get());
  return result;
}

}  // namespace mxnet
