// SPDX-License-Identifier: Apache-2.0
// Passes over conversions of types.
#include "graph/casts.h"

#include <unordered_set>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

bool is_multicast(const ir::Node& node) {
  return !node.is_variable() && node.op->name() == "amp_multicast";
}

// Integers up to this many bits are exact in the type; 0 = an integer type.
int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat32:
      return 24;
    case DType::kFloat64:
      return 53;
    default:
      return 0;
  }
}

int integer_bits(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
    case DType::kInt8:
      return 8;
    case DType::kInt32:
      return 32;
    case DType::kInt64:
      return 64;
    case DType::kBool:
      return 1;
    default:
      return 0;
  }
}

// Whether every value of `narrow` survives a trip through `wide`.
bool holds(DType wide, DType narrow) {
  if (wide == narrow) return true;
  const int wide_float = mantissa_bits(wide), narrow_float = mantissa_bits(narrow);
  if (narrow_float > 0) {
    // bfloat16 has the range of float32, which float16 has not.
    return wide == DType::kFloat64 || (wide == DType::kFloat32 && narrow_float < 24);
  }
  if (wide_float > 0) return wide_float >= integer_bits(narrow) && wide != DType::kBFloat16;
  if (narrow == DType::kBool) return true;
  if (wide == DType::kBool || wide == DType::kUInt8 || narrow == DType::kUInt8)
    return narrow == DType::kUInt8 && integer_bits(wide) > 8;
  return integer_bits(wide) > integer_bits(narrow);
}

std::unordered_set<const ir::Node*> nodes_of_results(const ir::Graph& graph) {
  std::unordered_set<const ir::Node*> nodes;
  for (const ir::Entry& output : graph.outputs) nodes.insert(output.node.get());
  return nodes;
}

}  // namespace

bool is_cast(const ir::Node& node) {
  return !node.is_variable() && (node.op->name() == "Cast" || node.op->name() == "amp_cast");
}

ir::Graph remove_amp_casts(const ir::Graph& graph) {
  const std::unordered_set<const ir::Node*> results = nodes_of_results(graph);
  const auto skip = [&](const ir::Node& old, const Ref<ir::Node>& node) -> Replacement {
    if (node->is_variable() || results.contains(&old)) return std::nullopt;
    const std::string& op = node->op->name();
    if (op != "amp_cast" && op != "amp_multicast") return std::nullopt;
    return node->inputs;
  };
  return run_pass("remove_amp_casts", graph, configured_passes(),
                  [&](const ir::Graph& whole) { return rewrite(whole, skip); });
}

ir::Graph remove_cast_pairs(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  const auto dtype = [&](int entry) { return types[static_cast<std::size_t>(entry)].dtype; };
  const std::unordered_set<const ir::Node*> results = nodes_of_results(graph.graph());
  std::vector<bool> written(static_cast<std::size_t>(graph.num_entries()));
  for (int n = 0; n < graph.num_nodes(); ++n)
    for (const int entry : graph.mutated(n)) written[static_cast<std::size_t>(entry)] = true;
  // Two results, or a result and a variable, are never one array; and a copy of what somebody
  // writes keeps what was there.
  const auto is_nothing = [&](const ir::Node& node) {
    if (!is_cast(node) && !is_multicast(node)) return false;
    if (results.contains(&node)) return false;
    const int n = graph.index_of(node);
    for (int i = 0; i < graph.num_outputs(n); ++i) {
      const int from = graph.inputs(n)[static_cast<std::size_t>(i)], to = graph.first_entry(n) + i;
      if (dtype(from) != dtype(to) || dtype(from) == DType::kUnknown ||
          written[static_cast<std::size_t>(from)] || written[static_cast<std::size_t>(to)])
        return false;
    }
    return true;
  };
  const auto is_pair = [&](const ir::Node& second) {
    if (!is_cast(second) || !is_cast(*second.inputs[0].node)) return false;
    const int source = graph.entry(second.inputs[0].node->inputs[0]);
    const DType narrow = dtype(source), wide = dtype(graph.entry(second.inputs[0]));
    return !written[static_cast<std::size_t>(source)] && narrow != DType::kUnknown &&
           narrow != wide && narrow == dtype(graph.first_entry(graph.index_of(second))) &&
           holds(wide, narrow);
  };
  const auto replace = [&](const ir::Node& second, const Ref<ir::Node>& node) -> Replacement {
    if (is_nothing(second)) return node->inputs;
    if (!is_pair(second)) return std::nullopt;
    // The first cast, or its copy: it widens, so that it never ends a pair itself.
    const ir::Entry& source = node->inputs[0].node->inputs[0];
    // A result is never one of the variables.
    if (source.node->is_variable() && results.count(&second) > 0) return std::nullopt;
    return std::vector<ir::Entry>{source};
  };
  return rewrite(graph.graph(), replace);
}

}  // namespace mxnet
