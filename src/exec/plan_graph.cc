// SPDX-License-Identifier: Apache-2.0
// Forward graph plus gradients.
#include "exec/plan_graph.h"

#include "base/config.h"
#include "base/error.h"
#include "graph/fuse_conv.h"
#include "graph/gradient.h"
#include "graph/infer.h"
#include "graph/layouts.h"
#include "graph/mirror.h"
#include "graph/partition.h"
#include "graph/passes.h"
#include "op/grad.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

TypedGraph infer_all(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known) {
  TypedGraph typed{IndexedGraph(std::move(graph)), {}, {}};
  typed.types.resize(static_cast<std::size_t>(typed.graph.num_entries()));
  for (int n : typed.graph.variables())
    typed.types[static_cast<std::size_t>(typed.graph.first_entry(n))] =
        known.at(&typed.graph.node(n));
  const bool complete = infer_graph(typed.graph, &typed.types);
  MX_ASSERT(complete);
  return typed;
}

// Passes for inference count on nobody but its readers seeing a value change. BatchNorm only reads
// its states there.
bool is_pure(const IndexedGraph& graph) {
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    if (!node.control_deps().empty()) return false;
    if (!graph.mutated(n).empty() && node.op->name() != "BatchNorm") return false;
  }
  return true;
}

TypedGraph optimise(const TypedGraph& typed, const std::map<const ir::Node*, ArrayType>& known) {
  const TypedGraph fused =
      infer_all(fuse_convolutions(typed.graph, typed.types, FuseOptions::configured()), known);
  LaidOutGraph laid_out = lay_out(fused.graph, fused.types);
  TypedGraph result = infer_all(std::move(laid_out.graph), known);
  for (int n = 0; n < result.graph.num_nodes(); ++n) {
    const auto at = laid_out.kernels.find(&result.graph.node(n));
    result.kernels.push_back(at == laid_out.kernels.end() ? nullptr : at->second);
  }
  return result;
}

}  // namespace

ir::Graph compiled_graph(const ir::Graph& graph,
                         const std::map<const ir::Node*, ArrayType>& known) {
  const TypedGraph typed = infer_all(inline_parts(graph), known);
  return run_passes(typed.graph, typed.types, configured_passes());
}

TrainingGraph training_graph(const ir::Graph& forward, std::span<const ir::Entry> wrt,
                             bool differentiable) {
  TrainingGraph training{.graph = forward, .head_grads = {}, .forward_outputs = 0};
  training.forward_outputs = static_cast<int>(forward.outputs.size());
  for (const ir::Entry& output : forward.outputs) {
    auto head = make_ref<ir::Node>();
    head->name = output.node->name + "_head_grad";
    training.head_grads.push_back({std::move(head), 0, 0});
  }
  GradientOptions options = configured_gradient();
  options.differentiable = differentiable;
  std::vector<ir::Entry> gradients = gradient(forward, training.head_grads, wrt, options);
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (!gradients[i]) {
      gradients[i] = apply("zeros_like", {Value(wrt[i])}).entry();
      gradients[i].node->name = wrt[i].node->name + "_no_grad";
    }
    training.graph.outputs.push_back(std::move(gradients[i]));
  }
  return training;
}

TypedGraph typed_graph(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known,
                       const PlanOptions& options) {
  TypedGraph typed = infer_all(std::move(graph), known);
  if (options.optimise && is_pure(typed.graph)) return optimise(typed, known);
  const auto& wish = config().memory_plan;
  const auto budget = static_cast<std::size_t>(int64_t{wish.backward_mirror_budget});
  const bool any = wish.backward_do_mirror || wish.memory_opt > 0 || budget > 0;
  if (!any || options.forward_outputs >= static_cast<int>(typed.graph.outputs().size()))
    return typed;
  MirrorOptions mirror_options;
  mirror_options.cheap = true;
  mirror_options.segments = wish.memory_opt > 0 || budget > 0;
  mirror_options.budget = budget;
  mirror_options.bytes = [&](const IndexedGraph& candidate, const std::vector<ArrayType>& types) {
    const GraphMemory memory = plan_graph_memory(
        candidate, types, schedule_nodes(candidate, options.forward_outputs), options);
    return memory.arena_bytes;
  };
  return infer_all(mirror(typed.graph, typed.types, options.forward_outputs, mirror_options),
                   known);
}

}  // namespace mxnet
