// SPDX-License-Identifier: Apache-2.0
// Passes that compute less without changing a value.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// Operators with equal parameters, attributes and inputs are computed once. Never those that draw
// random numbers or write their inputs, nor what reads a value that somebody writes.
// (MXNET_ELIMINATE_COMMON_EXPR)
ir::Graph eliminate_common_expressions(const ir::Graph& graph);

// Operators that give back what they are given (copies, sums of one term) are left out, except
// where their output has to be an array of its own: a result that would be one of the variables,
// and copies of what somebody writes. (MXNET_NODE_ELIMINATION)
ir::Graph eliminate_copies(const ir::Graph& graph);

// Likewise what gives an array the shape that it has: reshapes, broadcasts to its own shape. For
// plans alone, as it forgets arguments of which only the shape was asked. `types` are complete.
ir::Graph eliminate_reshapes(const IndexedGraph& graph, const std::vector<ArrayType>& types);

}  // namespace mxnet
