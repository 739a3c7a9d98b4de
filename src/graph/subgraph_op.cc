// SPDX-License-Identifier: Apache-2.0
// The table of operators with graphs, and the one that merely holds a graph.
#include "graph/subgraph_op.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/leaked.h"
#include "graph/infer.h"
#include "graph/symbol.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

std::map<std::string, SubgraphOp, std::less<>>& table() {
  static Leaked<std::map<std::string, SubgraphOp, std::less<>>> table;
  return *table;
}

// _CachedOp: the node computes its one graph. Inputs are the graph's variables, in their order.
struct CachedParams {
  std::shared_ptr<const ir::Graph> graph;
  int inputs = 0;
};

ParamsPtr bind_cached(const void*, SubgraphList graphs) {
  if (graphs.size() != 1) {
    throw Error(ErrorCode::kValue, "_CachedOp",
                fmt::format("given {} graphs, expected one", graphs.size()));
  }
  auto params = std::make_shared<CachedParams>();
  params->graph = graphs[0];
  params->inputs = static_cast<int>(list_inputs(*graphs[0]).nodes.size());
  return params;
}

std::vector<std::string> cached_output_names(const void* params) {
  std::vector<std::string> names;
  for (const ir::Entry& output : static_cast<const CachedParams*>(params)->graph->outputs)
    names.push_back(entry_name(output));
  return names;
}

void infer_cached(const CachedParams& params, Infer& infer) {
  if (!params.graph) infer.fail("given no graph, expected a node that carries one");
  const IndexedGraph graph(*params.graph);
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  const auto variable = [&](int i) -> ArrayType& {
    return types[static_cast<std::size_t>(
        graph.first_entry(graph.variables()[static_cast<std::size_t>(i)]))];
  };
  const auto output = [&](int o) -> ArrayType& {
    return types[static_cast<std::size_t>(graph.outputs()[static_cast<std::size_t>(o)])];
  };
  for (int i = 0; i < infer.num_in(); ++i) variable(i) = {infer.in(i).shape(), infer.in(i).dtype()};
  for (int o = 0; o < infer.num_out(); ++o) {
    // One value may be several outputs, or an input.
    infer.out(o).set_shape(output(o).shape).set_dtype(output(o).dtype);
    output(o) = {infer.out(o).shape(), infer.out(o).dtype()};
  }
  infer_graph(graph, &types);
  for (int i = 0; i < infer.num_in(); ++i)
    infer.in(i).set_shape(variable(i).shape).set_dtype(variable(i).dtype);
  for (int o = 0; o < infer.num_out(); ++o)
    infer.out(o).set_shape(output(o).shape).set_dtype(output(o).dtype);
}

std::vector<int> cached_mutated(const CachedParams& params) {
  std::vector<int> mutated;
  if (!params.graph) return mutated;
  const InputList inputs = list_inputs(*params.graph);
  for (std::size_t i = 0; i < inputs.nodes.size(); ++i)
    if (inputs.auxiliary[i]) mutated.push_back(static_cast<int>(i));
  return mutated;
}

// Threads may run plans side by side always: the name of its own serves files that have it.
[[maybe_unused]] const bool added = [] {
  for (const char* name : {"_CachedOp", "_CachedOpThreadSafe"}) {
    OpBuilder<CachedParams>(name)
        .doc("A part of a network as one node; the node carries it as its subgraph.")
        .input_list("data", "What the part's variables stand for, in their order.")
        .num_inputs([](const CachedParams& params) { return params.inputs; })
        .outputs([](const CachedParams& params) {
          return params.graph ? static_cast<int>(params.graph->outputs.size()) : 1;
        })
        .mutates(cached_mutated)
        .infer(infer_cached);
    add_subgraph_op(name, {bind_cached, cached_output_names});
  }
  return true;
}();

}  // namespace

bool add_subgraph_op(const char* op, SubgraphOp entry) { return table().emplace(op, entry).second; }

ParamsPtr params_with_subgraphs(const OpDef& op, const ParamsPtr& params, SubgraphList graphs) {
  const auto known = table().find(op.name());
  if (known != table().end() && known->second.bind != nullptr)
    return known->second.bind(params.get(), graphs);
  throw Error(ErrorCode::kValue, op.name(),
              fmt::format("given {} subgraphs, expected none", graphs.size()));
}

std::string output_name(const ir::Node& node, int index) {
  const auto known = table().find(node.op->name());
  if (known != table().end() && known->second.output_names != nullptr &&
      (known->second.bind == nullptr || !node.subgraphs().empty()))
    return known->second.output_names(node.params.get())[static_cast<std::size_t>(index)];
  return node.op->output_name(node.params.get(), index);
}

}  // namespace mxnet
