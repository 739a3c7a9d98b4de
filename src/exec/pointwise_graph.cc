// SPDX-License-Identifier: Apache-2.0
// Fusions, and what plans with and without them take.
#include "exec/pointwise_graph.h"

#include <algorithm>
#include <utility>

#include "graph/fuse_pointwise.h"
#include "op/fused/pointwise.h"
#include "op/op_def.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

GraphMemory planned(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                    const PlanOptions& options, const PreparedKernels& kernels) {
  return plan_graph_memory(graph, types, plan_schedule(graph, options), options, kernels);
}

// Types and kernels of what a fusion has left, and the types of what it has made.
TypedGraph typed_fusion(PointwiseFusion fusion, const IndexedGraph& graph,
                        const std::vector<ArrayType>& types, const PreparedKernels& kernels) {
  TypedGraph fused{IndexedGraph(std::move(fusion.graph)), {}, {}, {}};
  for (int n = 0; n < fused.graph.num_nodes(); ++n) {
    const ir::Node& node = fused.graph.node(n);
    const auto at = fusion.kept.find(&node);
    if (at == fusion.kept.end()) {
      const auto& chain = *static_cast<const PointwiseChain*>(node.params.get());
      for (const int step : chain.outputs)
        fused.types.push_back({chain.shape, chain.steps[static_cast<std::size_t>(step)].dtype});
    } else {
      const auto first = types.begin() + graph.first_entry(at->second);
      fused.types.insert(fused.types.end(), first, first + graph.num_outputs(at->second));
    }
    if (!kernels.empty())
      fused.kernels.push_back(
          at == fusion.kept.end() ? nullptr : kernels[static_cast<std::size_t>(at->second)]);
  }
  return fused;
}

// The graph with pointwise neighbours in one, whatever memory it takes; none where there are none.
std::optional<TypedGraph> neighbours_fused(const IndexedGraph& graph,
                                           const std::vector<ArrayType>& types,
                                           const PlanOptions& options,
                                           const PreparedKernels& kernels) {
  if (!options.fuse_pointwise) return std::nullopt;
  PointwiseOptions pointwise;
  pointwise.forward_outputs = options.forward_outputs;
  // An engine operation has at most so many operators, fused or not.
  const auto most = [](int bulk) {
    return bulk > 0 ? std::min(bulk, PointwiseOptions::kMost) : PointwiseOptions::kMost;
  };
  pointwise.most_forward = most(options.forward_bulk);
  pointwise.most_backward = most(options.backward_bulk);
  // On a GPU a chain that is not compiled yet runs by the kernels of its operators.
  const bool needs_portable = options.device.is_gpu();
  if (!kernels.empty() || needs_portable)
    pointwise.fixed = [&](int n) {
      return (!kernels.empty() && kernels[static_cast<std::size_t>(n)] != nullptr) ||
             (needs_portable && !is_portable(*graph.node(n).op));
    };
  PointwiseFusion fusion = fuse_pointwise(graph, types, pointwise);
  if (!fusion.changed) return std::nullopt;
  return typed_fusion(std::move(fusion), graph, types, kernels);
}

}  // namespace

std::optional<TypedGraph> pointwise_fused(const TypedGraph& typed, const PlanOptions& options) {
  auto fused = neighbours_fused(typed.graph, typed.types, options, typed.kernels);
  if (!fused) return fused;
  fused->memory = planned(fused->graph, fused->types, options, fused->kernels);
  const GraphMemory apart = planned(typed.graph, typed.types, options, typed.kernels);
  if (fused->memory->arena_bytes > apart.arena_bytes) fused.reset();
  return fused;
}

std::size_t fused_bytes(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                        const PlanOptions& options, const PreparedKernels& kernels) {
  const std::size_t apart = planned(graph, types, options, kernels).arena_bytes;
  const auto fused = neighbours_fused(graph, types, options, kernels);
  if (!fused) return apart;
  return std::min(apart, planned(fused->graph, fused->types, options, fused->kernels).arena_bytes);
}

}  // namespace mxnet
