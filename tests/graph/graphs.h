// SPDX-License-Identifier: Apache-2.0
// Small graphs for tests, built as gradients are: values and operators.
#pragma once
#include <string>
#include <vector>

#include "graph/indexed_graph.h"
#include "graph/infer.h"
#include "op/grad.h"
#include "op/op_def.h"

namespace mxnet {

inline Value variable(std::string name) {
  auto node = make_ref<ir::Node>();
  node->name = std::move(name);
  return Value(ir::Entry{Ref<ir::Node>(node.get()), 0, 0});
}

// An operator with a name.
inline Value named(std::string name, Value value) {
  value.entry().node->name = std::move(name);
  return value;
}

inline ir::Graph graph_of(std::initializer_list<Value> outputs) {
  ir::Graph graph;
  for (const Value& value : outputs) graph.outputs.push_back(value.entry());
  return graph;
}

// Types of all entries when every variable is a float32 array of `shape`.
inline std::vector<ArrayType> types_of(const IndexedGraph& graph, const Shape& shape) {
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  for (int n : graph.variables())
    types[static_cast<std::size_t>(graph.first_entry(n))] = {shape, DType::kFloat32};
  infer_graph(graph, &types);
  return types;
}

}  // namespace mxnet
