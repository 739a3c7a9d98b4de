// SPDX-License-Identifier: Apache-2.0
// A graph with the types of its values and the kernels that are prepared for its nodes: what the
// steps from a network to a plan hand to each other.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "exec/plan.h"
#include "graph/layouts.h"
#include "graph/passes.h"
#include "ir/graph.h"

namespace mxnet {

// A graph, the types of all its entries, and per node the kernel that is prepared for it, if any.
struct TypedGraph {
  IndexedGraph graph;
  std::vector<ArrayType> types;
  PreparedKernels kernels;
  std::optional<GraphMemory> memory;  // of a plan of it, where that was asked for
};

// Throws Error(kType) that names the node where an operator does not compute the type of an input:
// rules say which type follows from which, not of which there are kernels. REQUIRES complete types.
void check_dtypes(const IndexedGraph& graph, std::span<const ArrayType> types);
// Throws Error(kType) where an output, the gradient of `variable`, has not that one's type: it
// would be written into an array of it.
void check_gradient_dtype(const TypedGraph& typed, std::size_t output, const ir::Node& variable,
                          DType dtype);

// What is known of the variables, and of values that nothing is read for, alone.
TypedGraph with_known(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known);
// What is known and the types of values that nothing is read for: of zeros with an open shape only
// the operator that reads them may say it, and not what a pass makes of that. REQUIRES the graph to
// live as long as the result is used.
std::map<const ir::Node*, ArrayType> with_sources(const TypedGraph& typed,
                                                  std::map<const ir::Node*, ArrayType> known);
// All types, which follow from those.
TypedGraph infer_all(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known);
// The same of a graph that is laid out.
TypedGraph infer_laid_out(LaidOutGraph graph, const std::map<const ir::Node*, ArrayType>& known);
// Values in layouts of the kernels' choice.
TypedGraph laid_out(const TypedGraph& typed, const std::map<const ir::Node*, ArrayType>& known,
                    const PassOptions& passes, const LayoutOptions& options);

// Of a graph that is laid out: normalisations have taken over the relu behind them, both ways.
TypedGraph norms_fused(const TypedGraph& typed, const std::map<const ir::Node*, ArrayType>& known,
                       const PassOptions& passes);

}  // namespace mxnet
