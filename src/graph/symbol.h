// SPDX-License-Identifier: Apache-2.0
// What users hold while they build a network: some values of a graph under construction.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "op/params/param.h"

namespace mxnet {

// Symbols share nodes: an attribute that is set through one is seen through all, as existing
// programs rely on. Symbols that share nodes belong to one thread at a time, or to nobody who
// changes them: plans and threads that run them only read.
class Symbol {
 public:
  Symbol() = default;
  explicit Symbol(ir::Graph graph) : graph_(std::move(graph)) {}

  static Symbol variable(std::string name);
  // One application of an operator, yet without inputs. Hidden keys (symbol_attributes.h) may be
  // bare. Throws Error(kValue) for what the operator does not take.
  static Symbol atomic(const OpDef& op, Attrs attrs);
  static Symbol group(std::span<const Symbol* const> symbols);

  const ir::Graph& graph() const { return graph_; }
  std::span<const ir::Entry> outputs() const { return graph_.outputs; }

  // Gives an atomic symbol its name and inputs, or replaces variables of any other by what is given
  // under their names. `keys` is empty (by position) or as long as `args`. Inputs that an operator
  // is not given become variables NAME_INPUT with its attributes. The symbol must not be in use.
  void compose(std::string name, std::span<const std::string_view> keys,
               std::span<const Symbol* const> args);
  // The same, on nodes of its own.
  Symbol copy() const;

  Symbol output(std::size_t index) const;  // throws Error(kIndex)
  // The visible outputs of all nodes, in topological order.
  Symbol internals() const;
  Symbol children() const;  // inputs of the nodes of the outputs; without outputs if there are none

  // The one node that all outputs belong to, else null.
  ir::Node* node() const;
  std::vector<std::string> list_outputs() const;

  enum class Inputs { kAll, kArguments, kAuxiliary };
  std::vector<std::string> list_inputs(Inputs which) const;
  std::vector<Symbol> input_symbols(Inputs which = Inputs::kAll) const;  // one per variable
  // For people: every node with its inputs and attributes.
  std::string debug_text() const;

 private:
  void compose_atomic(std::string name, std::span<const std::string_view> keys,
                      std::span<const Symbol* const> args);
  void replace_variables(std::string name, std::span<const std::string_view> keys,
                         std::span<const Symbol* const> args);

  ir::Graph graph_;
};

// Variables in topological order, and which of them some node writes.
struct InputList {
  std::vector<ir::Node*> nodes;
  std::vector<bool> auxiliary;
};
InputList list_inputs(const ir::Graph& graph);

// "NAME_output", "NAME_weight": how a value is called. A variable has its own name.
std::string entry_name(const ir::Entry& entry);

// Number of outputs of a node, and how many of them a user sees.
int num_outputs(const ir::Node& node);
int num_visible_outputs(const ir::Node& node);

// A node of its own with the same inputs, dependencies and graphs.
Ref<ir::Node> copy_node(const ir::Node& node);
// All nodes behind `graph` copied, subgraphs shared.
ir::Graph copy_graph(const ir::Graph& graph);

}  // namespace mxnet
