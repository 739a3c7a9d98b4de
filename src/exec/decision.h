// SPDX-License-Identifier: Apache-2.0
// What _while_loop and _cond share: graphs that take some of a node's inputs, and one that decides.
#pragma once
#include <memory>
#include <vector>

#include "exec/graph_body.h"
#include "graph/subgraph_op.h"

namespace mxnet {

// For each input of a graph the input of the node.
using Locations = std::vector<int64_t>;

std::vector<NDArray*> pick(std::span<NDArray* const> values, const Locations& locations);

// Whether the graph's one value is not zero. Waits for it.
bool holds(const char* op, const GraphBody& condition, std::span<NDArray* const> inputs,
           Device device);

// Inference of a graph within that of the node, whose inputs learn from it.
void infer_with(const GraphBody& body, const Locations& locations, Infer& infer,
                std::vector<ArrayType>* out);

// The ith of the node's graphs, of which there must be `expected`.
std::shared_ptr<const GraphBody> body_at(const char* op, SubgraphList graphs, std::size_t i,
                                         std::size_t expected);

[[noreturn]] void no_graphs(const char* op);

}  // namespace mxnet
