// SPDX-License-Identifier: Apache-2.0
// Fully connected layers take over what follows them, in graphs that only infer: the sum with
// another value and activations.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

struct FuseDenseOptions {
  bool dense = true, activation = true, sum = true;
  bool on_gpu = false;  // for kernels of a GPU's plug-in: variables of oneDNN are not about them
  static FuseDenseOptions configured();
};

// `types` holds a complete type for each entry. A node is taken over only if nobody else reads what
// is between. Layers become fused ones even alone, because those keep packed weights; what is too
// small to gain by it stays as it is. Deterministic; the graph given is not changed.
ir::Graph fuse_dense(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                     const FuseDenseOptions& options);

}  // namespace mxnet
