// SPDX-License-Identifier: Apache-2.0
// The graph that a plan for training computes: results and gradients in one.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "exec/typed_graph.h"
#include "ir/graph.h"

namespace mxnet {

// The graph as it is compiled: what backends have taken out is back in its place, and the passes
// that the configuration asks for have run. Variables are the same nodes. `known` holds the type of
// every variable, from which all others follow. Where the options optimise, layers on half types
// that the CPU does not multiply compute in float32.
ir::Graph compiled_graph(const ir::Graph& graph, const std::map<const ir::Node*, ArrayType>& known,
                         const PlanOptions& options);

struct TrainingGraph {
  // Outputs: those of the forward graph, then what gradient() gives.
  ir::Graph graph;
  std::vector<ir::Entry> head_grads;  // variables, one per output of the forward graph; or null
  int forward_outputs = 0;
};

// A graph with the gradients of its heads with respect to `wrt`; those that are zero are made as
// zeros. `known` holds the type of every variable. Throws Error(kValue) naming the node where a
// gradient has to pass an operator that has none.
TrainingGraph training_graph(const ir::Graph& forward, std::span<const ir::Entry> wrt,
                             const std::map<const ir::Node*, ArrayType>& known);
// Where the gradients will be differentiated again: no head but those `given` has a gradient.
TrainingGraph twice_differentiable_graph(const ir::Graph& forward, std::span<const ir::Entry> wrt,
                                         const std::vector<bool>& given);

// `known` holds the type of every variable, from which all others follow. A graph with a backward
// part is mirrored as the configuration asks for; one for inference is fused and laid out, where
// the options allow it.
TypedGraph typed_graph(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& variables,
                       const PlanOptions& options);

}  // namespace mxnet
