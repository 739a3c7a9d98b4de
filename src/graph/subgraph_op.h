// SPDX-License-Identifier: Apache-2.0
// Operators whose nodes carry graphs: control flow, and parts of a network that a backend has taken
// over. What an OpDef is asked (outputs, shapes) then depends on those graphs, so that they become
// part of the parameters.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "op/params/param.h"

namespace mxnet {

class OpDef;

using SubgraphList = std::span<const std::shared_ptr<const ir::Graph>>;

// What such an operator adds to its definition.
struct SubgraphOp {
  // The parameters of a node with these graphs; throws Error(kValue) where they do not fit. Null
  // for operators without graphs, of which there are those that only name their outputs.
  ParamsPtr (*bind)(const void* params, SubgraphList graphs) = nullptr;
  // Names of the node's outputs; null where the definition knows them.
  std::vector<std::string> (*output_names)(const void* params) = nullptr;
};

// Call before the operator is used. Thread-safe.
bool add_subgraph_op(const char* op, SubgraphOp entry);
bool takes_subgraphs(const OpDef& op);

// Throws Error(kValue) for an operator that takes no graphs.
ParamsPtr params_with_subgraphs(const OpDef& op, const ParamsPtr& params, SubgraphList graphs);
// Of a node with an operator: its own name for the output, without the node's.
std::string output_name(const ir::Node& node, int index);

}  // namespace mxnet
