// SPDX-License-Identifier: Apache-2.0
// Graphs for training that compute values of the forward part again instead of keeping them.
#pragma once
#include <map>

#include "exec/typed_graph.h"

namespace mxnet {

// Whether the configuration asks for recomputation.
bool saves_memory();

// The smallest of what the rows that are set ask for: none can make the plan of another larger.
TypedGraph saving_graph(const TypedGraph& plain, const std::map<const ir::Node*, ArrayType>& known,
                        const PlanOptions& options, const PassOptions& passes);

}  // namespace mxnet
