// SPDX-License-Identifier: Apache-2.0
// Storage types through forward and backward graphs, by the one rule that eager calls follow.
#include "exec/storage_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "graph/gradient.h"
#include "graph/symbol_attributes.h"
#include "op/inline_vector.h"
#include "op/op_def.h"
#include "op/sparse_op.h"

namespace mxnet {
namespace {

bool is_sparse(StorageType type) {
  return type == StorageType::kRowSparse || type == StorageType::kCSR;
}

// An operator that makes a sparse gradient of a dense argument is told to by this parameter.
bool asks_for_sparse_gradient(const ir::Node& node) {
  const std::string* text = find_attr(node, "sparse_grad");
  return text != nullptr && (*text == "True" || *text == "true" || *text == "1");
}

bool may_be_sparse(const IndexedGraph& graph, const VariableStorage& variables) {
  if (std::any_of(variables.begin(), variables.end(),
                  [](const auto& known) { return is_sparse(known.second); }))
    return true;
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    if (!node.is_variable() &&
        (node.op->makes_sparse(node.params.get()) || asks_for_sparse_gradient(node)))
      return true;
  }
  return false;
}

}  // namespace

VariableStorage told_storage(const IndexedGraph& graph) {
  VariableStorage told;
  for (int n : graph.variables()) {
    const std::string* text = find_attr(graph.node(n), "__storage_type__");
    if (text == nullptr) continue;
    int number = -1;
    const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), number);
    const std::optional<StorageType> type = storage_type_from_number(number);
    if (number == -1 && code == std::errc()) continue;  // unknown
    if (code != std::errc() || end != text->data() + text->size() || !type) {
      throw Error(ErrorCode::kValue, graph.node(n).name,
                  fmt::format("given attribute __storage_type__ = '{}', expected 0 (default), 1 "
                              "(row_sparse) or 2 (csr)",
                              *text));
    }
    told[&graph.node(n)] = *type;
  }
  return told;
}

std::vector<StorageType> infer_storage(const IndexedGraph& graph, const VariableStorage& variables,
                                       Device device) {
  std::vector<StorageType> types(static_cast<std::size_t>(graph.num_entries()),
                                 StorageType::kDense);
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    const auto first = static_cast<std::size_t>(graph.first_entry(n));
    if (node.is_variable()) {
      const auto known = variables.find(&node);
      if (known != variables.end()) types[first] = known->second;
      continue;
    }
    InlineVector<StorageType, 8> in;
    for (int entry : graph.inputs(n)) in.push_back(types[static_cast<std::size_t>(entry)]);
    const std::span<StorageType> given = in.span();
    if (!node.op->makes_sparse(node.params.get()) &&
        std::none_of(given.begin(), given.end(), is_sparse))
      continue;
    const auto out =
        std::span(types).subspan(first, static_cast<std::size_t>(graph.num_outputs(n)));
    std::fill(out.begin(), out.end(), StorageType::kUndefined);
    infer_storage(*node.op, node.params.get(), device, {given, out});
  }
  return types;
}

std::vector<StorageType> gradient_storage(const IndexedGraph& graph, std::span<const int> variables,
                                          const VariableStorage& storage, Device device) {
  std::vector<StorageType> result(variables.size(), StorageType::kDense);
  if (variables.empty() || !may_be_sparse(graph, storage)) return result;
  std::map<const ir::Node*, Ref<ir::Node>> owners;
  for (ir::Node* node : ir::topological_order(graph.graph().outputs))
    owners.emplace(node, Ref<ir::Node>(node));
  std::vector<ir::Entry> wrt, heads;
  for (int n : variables) wrt.push_back({owners.at(&graph.node(n)), 0, 0});
  const std::vector<StorageType> forward = infer_storage(graph, storage, device);
  VariableStorage known = storage;
  for (int output : graph.outputs()) {
    heads.push_back({make_ref<ir::Node>(), 0, 0});
    known[heads.back().node.get()] = forward[static_cast<std::size_t>(output)];
  }
  const std::vector<ir::Entry> gradients = gradient(graph.graph(), heads, wrt);
  ir::Graph backward;
  for (const ir::Entry& entry : gradients)
    if (entry) backward.outputs.push_back(entry);
  const IndexedGraph indexed(backward);
  const std::vector<StorageType> types = infer_storage(indexed, known, device);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i]) {
      result[i] = types[static_cast<std::size_t>(indexed.entry(gradients[i]))];
    } else if (const auto found = storage.find(&graph.node(variables[i])); found != storage.end()) {
      result[i] = found->second;
    }
  }
  return result;
}

}  // namespace mxnet
