// SPDX-License-Identifier: Apache-2.0
// Pointwise neighbours in one node, as far as the plan takes no more memory for it.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "exec/typed_graph.h"

namespace mxnet {

// None where there are no neighbours, the options do not ask for it, or it would take more memory:
// what a group reads has to be kept until all of it runs.
std::optional<TypedGraph> pointwise_fused(const TypedGraph& typed, const PlanOptions& options);

// Bytes of the arena of what pointwise_fused() would leave: searches ask for it a hundred times, so
// that each graph is planned once.
std::size_t fused_bytes(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                        const PlanOptions& options, const PreparedKernels& kernels = {});

}  // namespace mxnet
