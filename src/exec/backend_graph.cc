// SPDX-License-Identifier: Apache-2.0
// A backend's parts, and that their results are those of the graph.
#include "exec/backend_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "base/config.h"
#include "base/error.h"
#include "graph/backends.h"
#include "graph/infer.h"
#include "op/named_errors.h"

namespace mxnet {
namespace {

using Variables = std::map<const ir::Node*, ArrayType>;

bool fits(std::span<const int> nodes, const std::vector<NDArray>& arrays) {
  return nodes.size() == arrays.size() &&
         std::ranges::none_of(arrays, [](const NDArray& array) { return array.is_none(); });
}

std::vector<ArrayType> types_of(const IndexedGraph& graph, const Variables& variables) {
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  for (const int n : graph.variables())
    types[static_cast<std::size_t>(graph.first_entry(n))] = variables.at(&graph.node(n));
  infer_graph(graph, &types);
  return types;
}

}  // namespace

ir::Graph backend_graph(const IndexedGraph& graph, const std::vector<NDArray>& args,
                        const std::vector<NDArray>& aux) {
  const std::string name = config().subgraph.backend;
  const GraphBackend take_parts = graph_backend(name);
  if (!take_parts || !fits(graph.arguments(), args) || !fits(graph.auxiliary(), aux))
    return graph.graph();
  Variables variables;
  const auto add = [&](std::span<const int> nodes, const std::vector<NDArray>& arrays) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      variables[&graph.node(nodes[i])] = {arrays[i].shape(), arrays[i].dtype()};
  };
  add(graph.arguments(), args);
  add(graph.auxiliary(), aux);
  const std::vector<ArrayType> types = types_of(graph, variables);
  const IndexedGraph parted(take_parts(graph.graph(), types, {}));
  const std::vector<ArrayType> parted_types = types_of(parted, variables);
  for (std::size_t o = 0; o < graph.outputs().size(); ++o) {
    const ArrayType& wanted = types[static_cast<std::size_t>(graph.outputs()[o])];
    const ArrayType& made = parted_types[static_cast<std::size_t>(parted.outputs()[o])];
    if (!wanted.complete() || made == wanted) continue;
    throw Error(
        ErrorCode::kValue, "bind",
        fmt::format("given the backend {}, whose result {} of '{}' is {} {}, expected {} {}", name,
                    o, title_of(parted.node(parted.node_of(parted.outputs()[o]))),
                    dtype_name(made.dtype), to_string(made.shape), dtype_name(wanted.dtype),
                    to_string(wanted.shape)));
  }
  return parted.graph();
}

}  // namespace mxnet
