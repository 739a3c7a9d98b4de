// SPDX-License-Identifier: Apache-2.0
// Constant folding of compiled graphs: the pass of graph/fold.h with kernels behind it.
#pragma once
#include <vector>

#include "base/device.h"
#include "graph/fold.h"
#include "graph/indexed_graph.h"
#include "op/infer.h"

namespace mxnet {

// `types` (one per entry) are complete; values are computed on the CPU and lie on `device`, where
// the graph is to run. Blocks for as long as that takes. Of the options `training` and `dead_draws`
// count.
ir::Graph fold_graph(const IndexedGraph& graph, const std::vector<ArrayType>& types, Device device,
                     FoldOptions options);

}  // namespace mxnet
