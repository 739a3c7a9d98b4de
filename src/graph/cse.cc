// SPDX-License-Identifier: Apache-2.0
// Passes that compute less.
#include "graph/cse.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "graph/rewrite.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// Nodes some of whose outputs another node writes.
std::unordered_set<const ir::Node*> written_nodes(const ir::Graph& graph) {
  std::unordered_set<const ir::Node*> written;
  for (const ir::Node* node : ir::topological_order(graph.outputs)) {
    if (node->is_variable()) continue;
    for (int i : node->op->mutated_inputs(node->params.get()))
      written.insert(node->inputs[static_cast<std::size_t>(i)].node.get());
    for (int i : node->op->clobbered_inputs(node->params.get()))
      written.insert(node->inputs[static_cast<std::size_t>(i)].node.get());
  }
  return written;
}

bool reads_any(const ir::Node& node, const std::unordered_set<const ir::Node*>& nodes) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](const ir::Entry& input) { return nodes.count(input.node.get()) > 0; });
}

// Equal for equal nodes. Lengths go before texts, so that no two lists run together.
std::string key_of(const ir::Node& node) {
  std::string key;
  const auto number = [&key](uint64_t value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const auto text = [&](const std::string& value) {
    number(value.size());
    key += value;
  };
  number(reinterpret_cast<uintptr_t>(node.op));
  number(node.inputs.size());
  for (const ir::Entry& input : node.inputs) {
    number(reinterpret_cast<uintptr_t>(input.node.get()));
    number(static_cast<uint64_t>(input.index));
  }
  Attrs attrs = node.attrs;
  std::sort(attrs.begin(), attrs.end());
  for (const auto& [name, value] : attrs) {
    text(name);
    text(value);
  }
  return key;
}

// Without nodes that are nothing but their first input; `is_nothing` is asked of those in `graph`.
ir::Graph without(const ir::Graph& graph, const std::function<bool(const ir::Node&)>& is_nothing) {
  const auto written = written_nodes(graph);
  std::unordered_set<const ir::Node*> results;
  for (const ir::Entry& output : graph.outputs) results.insert(output.node.get());
  return rewrite(graph, [&](const ir::Node& original, const Ref<ir::Node>& node) -> Replacement {
    if (node->is_variable() || node->extras || !is_nothing(original)) return std::nullopt;
    if (written.count(&original) > 0 || reads_any(original, written)) return std::nullopt;
    // Two results, or a result and a variable, are never one array.
    if (results.count(&original) > 0) return std::nullopt;
    return std::vector<ir::Entry>{node->inputs[0]};
  });
}

}  // namespace

ir::Graph eliminate_common_expressions(const ir::Graph& graph) {
  const auto written = written_nodes(graph);
  std::unordered_map<std::string, Ref<ir::Node>> known;
  return rewrite(graph, [&](const ir::Node& original, const Ref<ir::Node>& node) -> Replacement {
    if (node->is_variable() || node->op->uses_random(node->params.get(), /*training=*/true) ||
        node->op->mutates_inputs() || node->op->clobbers_inputs() || node->extras ||
        written.count(&original) > 0 || reads_any(original, written))
      return std::nullopt;
    const auto [at, first] = known.emplace(key_of(*node), node);
    if (first) return std::nullopt;
    std::vector<ir::Entry> outputs;
    const int count = node->op->num_outputs(node->params.get());
    outputs.reserve(static_cast<std::size_t>(count));
    for (int o = 0; o < count; ++o) outputs.push_back({at->second, o, 0});
    return outputs;
  });
}

ir::Graph eliminate_copies(const ir::Graph& graph) {
  return without(graph, [](const ir::Node& node) {
    const std::string& op = node.op->name();
    return node.inputs.size() == 1 && (op == "_copy" || op == "add_n");
  });
}

ir::Graph eliminate_reshapes(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  // By the first input, which is copied where shapes agree.
  static constexpr std::array<std::string_view, 9> kOps = {
      "Flatten",      "Reshape",        "_np_reshape",  "_npi_broadcast_to", "_npx_reshape",
      "_sum_to_like", "broadcast_like", "broadcast_to", "reshape_like"};
  return without(graph.graph(), [&](const ir::Node& node) {
    if (std::ranges::find(kOps, node.op->name()) == kOps.end()) return false;
    const auto type = [&](int entry) { return types[static_cast<std::size_t>(entry)]; };
    const int n = graph.index_of(node);
    const ArrayType from = type(graph.inputs(n)[0]), to = type(graph.first_entry(n));
    return from.shape == to.shape && from.dtype == to.dtype;
  });
}

}  // namespace mxnet
