// SPDX-License-Identifier: Apache-2.0
// Nodes to saved graphs.
#include <string_view>
#include <unordered_map>

#include "base/numpy_shape.h"
#include "graph/load.h"
#include "ir/saved_graph.h"
#include "ndarray/byte_sink.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

std::string_view attribute(const ir::Node& node, std::string_view key, std::string_view initial) {
  for (const auto& [name, text] : node.attrs)
    if (name == key) return text;
  return initial;
}

// There, a maximum of windows in channels-first arrays also gives the positions of its maxima.
bool gives_positions(const ir::Node& pooling) {
  const std::string_view layout = attribute(pooling, "layout", "None");
  return attribute(pooling, "pool_type", "max") == "max" &&
         attribute(pooling, "kernel", "()").find_first_of("123456789") != std::string_view::npos &&
         (layout == "None" || layout.starts_with("NC"));
}

// Operators with outputs there that nobody sees and nothing here needs.
struct HiddenOutputs {
  std::string_view op, key, value;  // only where the attribute `key` has this value
  int count;
};
constexpr HiddenOutputs kHiddenOutputs[] = {
    {"topk", "ret_typ", "value", 2},   {"sort", "", "", 2},
    {"_npi_norm", "", "", 4},          {"Correlation", "", "", 3},
    {"SpatialTransformer", "", "", 3}, {"GridGenerator", "", "", 2},
    {"BilinearSampler", "", "", 2},
};

// Outputs that a node has for readers of the file: where the hidden ones here are not those of the
// release that defined the format. The reserve of RNN is a resource of the operator there.
int saved_outputs(const ir::Node& node) {
  if (node.is_variable()) return 1;
  if (node.op->name() == "RNN") return num_visible_outputs(node);
  if (node.op->name() == "Pooling") return gives_positions(node) ? 2 : 1;
  for (const HiddenOutputs& known : kHiddenOutputs)
    if (node.op->name() == known.op && attribute(node, known.key, {}) == known.value)
      return known.count;
  return num_outputs(node);
}

ir::SavedGraph saved_graph(const ir::Graph& graph) {
  ir::SavedGraph saved;
  std::unordered_map<const ir::Node*, int32_t> numbers;
  const auto entry = [&](const ir::Entry& e) {
    return ir::SavedEntry{numbers.at(e.node.get()), e.index, e.version};
  };
  saved.node_row_ptr.push_back(0);
  for (const ir::Node* node : ir::topological_order(graph.outputs)) {
    const auto number = static_cast<int32_t>(saved.nodes.size());
    numbers.emplace(node, number);
    if (node->is_variable()) saved.arg_nodes.push_back(number);
    saved.node_row_ptr.push_back(saved.node_row_ptr.back() + saved_outputs(*node));
    ir::SavedNode& out = saved.nodes.emplace_back();
    out.op = node->is_variable() ? "null" : node->op->name();
    out.name = node->name;
    out.attrs = node->attrs;
    for (const ir::Entry& input : node->inputs) out.inputs.push_back(entry(input));
    for (const Ref<ir::Node>& dep : node->control_deps())
      out.control_deps.push_back(numbers.at(dep.get()));
    for (const auto& inner : node->subgraphs()) out.subgraphs.push_back(saved_graph(*inner));
  }
  for (const ir::Entry& output : graph.outputs) saved.heads.push_back(entry(output));
  return saved;
}

}  // namespace

ir::SavedGraph saved_of_symbol(const Symbol& symbol) {
  ir::SavedGraph saved = saved_graph(symbol.graph());
  saved.version = kSymbolFileVersion;
  saved.numpy_shape = static_cast<int32_t>(numpy_shape());
  return saved;
}

std::string save_symbol(const Symbol& symbol) {
  return ir::print_saved_graph(saved_of_symbol(symbol));
}

void save_symbol_file(const Symbol& symbol, const std::string& path) {
  const std::string text = save_symbol(symbol);
  AtomicFileSink file(path, "symbol");
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace mxnet
