// SPDX-License-Identifier: Apache-2.0
// The table of operators with graphs, and the one that merely holds a graph.
#include "graph/subgraph_op.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "graph/subgraph_types.h"
#include "graph/symbol.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

struct Table {
  Mutex mutex;
  std::map<std::string, SubgraphOp, std::less<>> by_name MX_GUARDED_BY(mutex);
};

Table& table() {
  static Leaked<Table> table;
  return *table;
}

// Without functions where the operator is not in the table.
SubgraphOp find_subgraph_op(const OpDef& op) {
  const MutexLock lock(table().mutex);
  const auto known = table().by_name.find(op.name());
  return known == table().by_name.end() ? SubgraphOp{} : known->second;
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
  SubgraphTypes types(params.graph, infer);
  for (int i = 0; i < infer.num_in(); ++i)
    types.variable(i) = {infer.in(i).shape(), infer.in(i).dtype()};
  for (int o = 0; o < infer.num_out(); ++o) {
    // One value may be several outputs, or an input.
    infer.out(o).set_shape(types.output(o).shape).set_dtype(types.output(o).dtype);
    types.output(o) = {infer.out(o).shape(), infer.out(o).dtype()};
  }
  types.complete();
  for (int i = 0; i < infer.num_in(); ++i)
    infer.in(i).set_shape(types.variable(i).shape).set_dtype(types.variable(i).dtype);
  for (int o = 0; o < infer.num_out(); ++o)
    infer.out(o).set_shape(types.output(o).shape).set_dtype(types.output(o).dtype);
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

bool add_subgraph_op(const char* op, SubgraphOp entry) {
  const MutexLock lock(table().mutex);
  return table().by_name.emplace(op, entry).second;
}

bool takes_subgraphs(const OpDef& op) { return find_subgraph_op(op).bind != nullptr; }

ParamsPtr params_with_subgraphs(const OpDef& op, const ParamsPtr& params, SubgraphList graphs) {
  if (const SubgraphOp known = find_subgraph_op(op); known.bind != nullptr)
    return known.bind(params.get(), graphs);
  throw Error(ErrorCode::kValue, op.name(),
              fmt::format("given {} subgraphs, expected none", graphs.size()));
}

std::string output_name(const ir::Node& node, int index) {
  const SubgraphOp known = find_subgraph_op(*node.op);
  if (known.output_names != nullptr && (known.bind == nullptr || !node.subgraphs().empty()))
    return known.output_names(node.params.get())[static_cast<std::size_t>(index)];
  return node.op->output_name(node.params.get(), index);
}

}  // namespace mxnet
