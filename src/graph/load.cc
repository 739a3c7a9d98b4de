// SPDX-License-Identifier: Apache-2.0
// Saved graphs to nodes: resolves operators, parses parameters, upgrades.
#include "graph/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/destination.h"
#include "base/error.h"
#include "base/log.h"
#include "graph/symbol_attributes.h"
#include "graph/symbol_node.h"
#include "graph/upgrade.h"
#include "ir/saved_graph.h"
#include "op/named_errors.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

class Loader {
 public:
  Loader(ir::SavedGraph&& saved, int version)
      : saved_(std::move(saved)), version_(version), nodes_(saved_.nodes.size()) {}

  ir::Graph load() {
    for (std::size_t n : order()) nodes_[n] = node(std::move(saved_.nodes[n]));
    ir::Graph graph;
    for (const ir::SavedEntry& head : saved_.heads) graph.outputs.push_back(entry(head));
    return graph;
  }

 private:
  // Nodes after what they need; files are allowed any order, and almost always have this one.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order;
    order.reserve(nodes_.size());
    std::vector<bool> done(nodes_.size()), open(nodes_.size());
    std::vector<std::size_t> stack;
    for (std::size_t root = 0; root < nodes_.size(); ++root) {
      stack.push_back(root);
      while (!stack.empty()) {
        const std::size_t n = stack.back();
        if (done[n] || open[n]) {
          stack.pop_back();
          if (!done[n]) order.push_back(n);
          done[n] = true;
          continue;
        }
        open[n] = true;
        const auto need = [&](int32_t other) {
          if (!done[static_cast<std::size_t>(other)])
            stack.push_back(static_cast<std::size_t>(other));
        };
        for (const ir::SavedEntry& input : saved_.nodes[n].inputs) need(input.node);
        for (int32_t dep : saved_.nodes[n].control_deps) need(dep);
      }
    }
    return order;
  }

  ir::Entry entry(const ir::SavedEntry& saved) const {
    const Ref<ir::Node>& node = nodes_[static_cast<std::size_t>(saved.node)];
    const int count = num_outputs(*node);
    if (saved.index >= count) {
      throw Error(ErrorCode::kValue, node->name,
                  fmt::format("given output {} in a file, expected one of {}", saved.index, count));
    }
    // A variable that is composed with again goes on counting where the file ends.
    if (auto* variable = dynamic_cast<VariableNode*>(node.get()))
      variable->mutations = std::max(variable->mutations, saved.version);
    return {node, saved.index, saved.version};
  }

  Ref<ir::Node> node(ir::SavedNode saved) const {
    Ref<ir::Node> node =
        saved.op == "null" ? Ref<ir::Node>(make_ref<VariableNode>()) : make_ref<ir::Node>();
    node->name = saved.name;
    if (saved.op != "null") node->op = &operator_of(saved);
    upgrade_attributes(version_, &saved);
    auto hidden = take_hidden_keys(version_, &saved);
    node->attrs = std::move(saved.attrs);
    set_extras(&saved, node.get());
    parse(node.get());
    for (const ir::SavedEntry& input : saved.inputs) node->inputs.push_back(entry(input));
    upgrade_inputs(version_, node.get());
    restore_hidden_keys(hidden, node.get());
    check_inputs(*node, " in a file");
    return node;
  }

  static const OpDef& operator_of(const ir::SavedNode& saved) {
    try {
      return Registry::get().at(saved.op);
    } catch (const Error& error) {
      throw Error(error.code(), saved.name, error.message());
    }
  }

  static void parse(ir::Node* node) {
    try {
      parse_node(node);
    } catch (const Error& error) {
      throw Error(error.code(), title_of(*node), error.message());
    }
  }

  void set_extras(ir::SavedNode* saved, ir::Node* node) const {
    if (saved->control_deps.empty() && saved->subgraphs.empty()) return;
    auto extras = std::make_shared<ir::NodeExtras>();
    for (int32_t dep : saved->control_deps)
      extras->control_deps.push_back(nodes_[static_cast<std::size_t>(dep)]);
    for (ir::SavedGraph& inner : saved->subgraphs) {
      extras->subgraphs.push_back(
          std::make_shared<const ir::Graph>(Loader(std::move(inner), version_).load()));
    }
    node->extras = std::move(extras);
  }

  ir::SavedGraph saved_;
  const int version_;
  std::vector<Ref<ir::Node>> nodes_;
};

}  // namespace

Symbol load_symbol(std::string_view json) { return symbol_of_saved(ir::parse_saved_graph(json)); }

Symbol symbol_of_saved(ir::SavedGraph saved) {
  const int version = saved.version.value_or(kOldestVersion);
  if (version > kSymbolFileVersion) {
    log(LogLevel::kWarning,
        fmt::format("symbol file of version {} is newer than {}: what is new in it may be "
                    "misunderstood",
                    version, kSymbolFileVersion));
  }
  return Symbol(Loader(std::move(saved), version).load());
}

Symbol load_symbol_file(const std::string& path) {
  std::ifstream file(local_path(path, "symbol"), std::ios::binary);
  std::stringstream text;
  if (file) text << file.rdbuf();
  if (!file) {
    throw Error(ErrorCode::kGeneric, "symbol",
                fmt::format("given {}, expected a file that can be read", path));
  }
  try {
    return load_symbol(std::move(text).str());
  } catch (const Error& error) {
    throw Error(error.code(), path, fmt::format("{}: {}", error.tag(), error.message()));
  }
}

}  // namespace mxnet
