// SPDX-License-Identifier: Apache-2.0
// Composition: an operator gets its inputs, or the variables of a finished network are replaced.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "graph/symbol.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

const Symbol& single(const Symbol& symbol, std::string_view name) {
  if (symbol.outputs().size() == 1) return symbol;
  throw Error(ErrorCode::kValue, "symbol",
              fmt::format("given a symbol of {} outputs for {}, expected one output",
                          symbol.outputs().size(), name));
}

[[noreturn]] void no_such_argument(std::string_view key, const std::string& names) {
  throw Error(ErrorCode::kValue, "symbol",
              fmt::format("given argument {}, expected one of: {}", key, names));
}

// What is given to a call, by position or by name.
class Given {
 public:
  Given(std::span<const std::string_view> keys, std::span<const Symbol* const> args)
      : keys_(keys), args_(args), used_(args.size()) {}

  std::size_t count() const { return args_.size(); }
  // For input `name` at position `i`; null if it is not given.
  const Symbol* take(std::size_t i, std::string_view name) {
    if (!keys_.empty()) {
      const auto at = std::find(keys_.begin(), keys_.end(), name);
      if (at == keys_.end()) return nullptr;
      i = static_cast<std::size_t>(at - keys_.begin());
    }
    if (i >= args_.size()) return nullptr;
    used_[i] = true;
    return args_[i];
  }
  void check_all_used(const std::vector<std::string>& names) const {
    const auto left = std::find(used_.begin(), used_.end(), false);
    if (left == used_.end()) return;
    if (!keys_.empty())
      no_such_argument(keys_[static_cast<std::size_t>(left - used_.begin())],
                       fmt::format("{}", fmt::join(names, ", ")));
    throw Error(ErrorCode::kValue, "symbol",
                fmt::format("given {} inputs, expected at most {}: {}", args_.size(), names.size(),
                            fmt::join(names, ", ")));
  }

 private:
  const std::span<const std::string_view> keys_;
  const std::span<const Symbol* const> args_;
  std::vector<bool> used_;
};

// What the node takes, graphs first, as they are declared.
std::vector<std::string> argument_names(const ir::Node& node, std::size_t num_graphs) {
  std::vector<std::string> names;
  names.reserve(num_graphs);
  for (std::size_t g = 0; g < num_graphs; ++g) names.push_back(node.op->args()[g].name);
  const int count = expected_inputs(node);
  for (int i = 0; i < count; ++i) names.push_back(input_name(node, i));
  return names;
}

// Operators on any number of inputs are told how many, unless the caller has said so.
void set_number_of_inputs(ir::Node* node, std::size_t count) {
  const std::string& key = node->op->key_var_num_args();
  if (!key.empty() && find_attr(*node, key) == nullptr)
    node->attrs.emplace_back(key, std::to_string(count));
}

}  // namespace

void Symbol::compose(std::string name, std::span<const std::string_view> keys,
                     std::span<const Symbol* const> args) {
  MX_ASSERT(keys.empty() || keys.size() == args.size());
  const ir::Node* node = this->node();
  if (node != nullptr && !node->is_variable() && node->inputs.empty() &&
      node->subgraphs().empty()) {
    compose_atomic(std::move(name), keys, args);
  } else {
    replace_variables(std::move(name), keys, args);
  }
}

void Symbol::compose_atomic(std::string name, std::span<const std::string_view> keys,
                            std::span<const Symbol* const> args) {
  // On a copy: a call that fails leaves the symbol as it was.
  Symbol composed = copy();
  ir::Node* node = composed.node();
  if (!name.empty()) node->name = std::move(name);  // one without inputs may have a name already
  set_number_of_inputs(node, args.size());
  const std::size_t num_graphs = static_cast<std::size_t>(num_graph_args(*node->op));
  parse_node(node);
  const std::vector<std::string> names = argument_names(*node, num_graphs);
  Given given(keys, args);

  if (num_graphs > 0) {
    auto extras = std::make_shared<ir::NodeExtras>();
    for (std::size_t g = 0; g < num_graphs; ++g) {
      const Symbol* graph = given.take(g, names[g]);
      if (graph == nullptr) {
        throw Error(ErrorCode::kValue, node->op->name(),
                    fmt::format("given no {}, expected a symbol", names[g]));
      }
      extras->subgraphs.push_back(std::make_shared<const ir::Graph>(graph->graph_));
    }
    node->extras = std::move(extras);
    parse_node(node);
  }
  for (std::size_t i = num_graphs; i < names.size(); ++i) {
    if (const Symbol* symbol = given.take(i, names[i])) {
      node->inputs.push_back(single(*symbol, names[i]).graph_.outputs[0]);
    } else {
      node->inputs.push_back(variable_for_input(*node, names[i]));
    }
  }
  given.check_all_used(names);
  for (std::size_t i = 0; i < node->inputs.size(); ++i) set_input_initializer(*node, i);
  count_mutations(node);

  const Ref<ir::Node> owner(node);
  composed.graph_.outputs.clear();
  for (int o = 0; o < num_visible_outputs(*node); ++o)
    composed.graph_.outputs.push_back({owner, o, 0});
  *this = std::move(composed);
}

void Symbol::replace_variables(std::string name, std::span<const std::string_view> keys,
                               std::span<const Symbol* const> args) {
  if (keys.empty() && !args.empty()) {
    throw Error(ErrorCode::kValue, "symbol",
                "given inputs by position for a network, expected them by the names of variables");
  }
  std::unordered_map<std::string_view, const Symbol*> by_name;
  for (std::size_t i = 0; i < keys.size(); ++i) by_name.emplace(keys[i], args[i]);
  const std::vector<std::string> known = list_inputs(Inputs::kAll);
  for (const std::string_view key : keys) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      no_such_argument(key, fmt::format("{}", fmt::join(known, ", ")));
    single(*by_name.at(key), key);
  }
  const auto replace = [&](ir::Entry* entry) {
    if (!entry->node->is_variable()) return;
    const auto at = by_name.find(entry->node->name);
    if (at != by_name.end()) *entry = at->second->graph_.outputs[0];
  };
  for (ir::Node* node : ir::topological_order(graph_.outputs))
    for (ir::Entry& input : node->inputs) replace(&input);
  for (ir::Entry& output : graph_.outputs) replace(&output);
  ir::Node* const node = this->node();
  if (!name.empty() && node != nullptr && !node->is_variable()) node->name = std::move(name);
}

}  // namespace mxnet
