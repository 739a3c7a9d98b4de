// SPDX-License-Identifier: Apache-2.0
// Convolutions take over what follows them, in graphs that only infer: batch normalisation,
// activations, and the sum with another branch.
#pragma once
#include <vector>

#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

struct FuseOptions {
  bool conv = true, batch_norm = true, activation = true, sum = true;
  bool on_gpu = false;  // for kernels of a GPU's plug-in: variables of oneDNN are not about them
  static FuseOptions configured();
};

// `types` holds a complete type for each entry. A node is taken over only if nobody else reads what
// is between; where the library does not compute the whole, it stays as it is. Dropout that lets
// everything pass disappears. Convolutions become FusedConv nodes even alone, because those keep
// packed weights. Deterministic; the graph given is not changed.
ir::Graph fuse_convolutions(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                            const FuseOptions& options);

}  // namespace mxnet
