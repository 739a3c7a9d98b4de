// SPDX-License-Identifier: Apache-2.0
// Inference of nodes that carry one graph: what the graph's values are while the node's are
// inferred.
#pragma once
#include <memory>
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// Used by one thread.
class SubgraphTypes {
 public:
  // Throws Error(kValue) where the node has no graph.
  SubgraphTypes(const std::shared_ptr<const ir::Graph>& graph, const Infer& infer);
  ArrayType& variable(int i);  // in the order of the graph's variables
  ArrayType& output(int o);
  void complete();  // with what follows from those that are known

 private:
  const IndexedGraph graph_;
  std::vector<ArrayType> types_;
};

}  // namespace mxnet
