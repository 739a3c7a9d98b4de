// SPDX-License-Identifier: Apache-2.0
// Forward graph plus gradients.
#include "exec/plan_graph.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/config.h"
#include "base/error.h"
#include "exec/fold_values.h"
#include "graph/channels_last.h"
#include "graph/fuse_conv.h"
#include "graph/fuse_dense.h"
#include "graph/fuse_norm_relu.h"
#include "graph/fuse_pointwise.h"
#include "graph/gradient.h"
#include "graph/infer.h"
#include "graph/layouts.h"
#include "graph/mirror.h"
#include "graph/partition.h"
#include "graph/passes.h"
#include "graph/sink_strides.h"
#include "graph/widen.h"
#include "op/fused/pointwise.h"
#include "op/gpu.h"
#include "op/grad.h"
#include "op/onednn/instructions.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

// What is known of the variables alone.
TypedGraph with_known(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known) {
  TypedGraph typed{IndexedGraph(std::move(graph)), {}, {}};
  typed.types.resize(static_cast<std::size_t>(typed.graph.num_entries()));
  for (int n : typed.graph.variables())
    typed.types[static_cast<std::size_t>(typed.graph.first_entry(n))] =
        known.at(&typed.graph.node(n));
  return typed;
}

TypedGraph infer_all(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known) {
  TypedGraph typed = with_known(std::move(graph), known);
  const bool complete = infer_graph(typed.graph, &typed.types);
  MX_ASSERT(complete);
  return typed;
}

bool has_state_at(const ir::Node& node, int input) {
  const std::vector<int> states = node.op->state_inputs(node.params.get());
  return std::ranges::find(states, input) != states.end();
}

// Half types that the CPU has no products of, or for which no kernel here uses them.
bool lacks_products(DType dtype) {
  return dtype == DType::kFloat16 || (dtype == DType::kBFloat16 && !onednn::multiplies_bfloat16());
}

// Passes count on nobody but its readers seeing a value change. A state does no harm that nobody
// reads as anything else: BatchNorm, and a convolution that has taken one over, only carry their
// averages, and the gradient that moves them is the last to look at them.
bool is_pure(const IndexedGraph& graph) {
  std::vector<bool> written(static_cast<std::size_t>(graph.num_entries()));
  for (int n = 0; n < graph.num_nodes(); ++n) {
    if (!graph.node(n).control_deps().empty()) return false;
    for (int entry : graph.mutated(n)) {
      if (!graph.node(graph.node_of(entry)).is_variable()) return false;
      written[static_cast<std::size_t>(entry)] = true;
    }
  }
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    const std::span<const int> inputs = graph.inputs(n);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (written[static_cast<std::size_t>(inputs[i])] && !has_state_at(node, static_cast<int>(i)))
        return false;
  }
  return true;
}

// Values in layouts of the kernels' choice.
TypedGraph laid_out(const TypedGraph& typed, const std::map<const ir::Node*, ArrayType>& known,
                    const PassOptions& passes, const LayoutOptions& options) {
  LaidOutGraph laid_out;
  TypedGraph result = infer_all(run_pass("lay_out", typed.graph.graph(), passes,
                                         [&](const ir::Graph&) {
                                           laid_out = lay_out(typed.graph, typed.types, options);
                                           return laid_out.graph;
                                         }),
                                known);
  for (int n = 0; n < result.graph.num_nodes(); ++n) {
    const auto at = laid_out.kernels.find(&result.graph.node(n));
    result.kernels.push_back(at == laid_out.kernels.end() ? nullptr : at->second);
  }
  return result;
}

TypedGraph optimise(const TypedGraph& typed, const std::map<const ir::Node*, ArrayType>& known,
                    const PassOptions& passes) {
  const TypedGraph convolved = infer_all(
      run_pass("fuse_convolutions", typed.graph.graph(), passes,
               [&](const ir::Graph&) {
                 return fuse_convolutions(typed.graph, typed.types, FuseOptions::configured());
               }),
      known);
  const TypedGraph sunk = infer_all(
      run_pass("sink_strides", convolved.graph.graph(), passes,
               [&](const ir::Graph&) { return sink_strides(convolved.graph, convolved.types); }),
      known);
  const TypedGraph fused = infer_all(run_pass("fuse_dense", sunk.graph.graph(), passes,
                                              [&](const ir::Graph&) {
                                                return fuse_dense(sunk.graph, sunk.types,
                                                                  FuseDenseOptions::configured());
                                              }),
                                     known);
  return laid_out(fused, known, passes, {});
}

TypedGraph channels_turned(const TypedGraph& typed,
                           const std::map<const ir::Node*, ArrayType>& known,
                           const PassOptions& passes) {
  if (!config().cuda.allow_tensor_core) return typed;
  return infer_all(
      run_pass("channels_last", typed.graph.graph(), passes,
               [&](const ir::Graph&) { return with_channels_last(typed.graph, typed.types); }),
      known);
}

// For inference on a GPU.
TypedGraph optimise_for_gpu(const TypedGraph& typed,
                            const std::map<const ir::Node*, ArrayType>& known,
                            const PassOptions& passes) {
  const FuseOptions on_gpu{.on_gpu = true};
  TypedGraph fused = infer_all(
      run_pass(
          "fuse_convolutions", typed.graph.graph(), passes,
          [&](const ir::Graph&) { return fuse_convolutions(typed.graph, typed.types, on_gpu); }),
      known);
  return channels_turned(fused, known, passes);
}

// For training on one: a mask of a byte an element is kept, and two values less go through memory.
TypedGraph train_on_gpu(const TypedGraph& typed, const std::map<const ir::Node*, ArrayType>& known,
                        const PassOptions& passes) {
  const TypedGraph turned = channels_turned(typed, known, passes);
  return infer_all(
      run_pass("fuse_norm_relu", turned.graph.graph(), passes,
               [&](const ir::Graph&) { return fuse_norm_relu(turned.graph, turned.types, true); }),
      known);
}

}  // namespace

ir::Graph compiled_graph(const ir::Graph& graph, const std::map<const ir::Node*, ArrayType>& known,
                         const PlanOptions& options) {
  const PassOptions passes = configured_passes();
  TypedGraph typed = with_known(inline_parts(graph), known);
  const bool complete = run_inference(typed.graph, &typed.types, passes);
  MX_ASSERT(complete);
  ir::Graph result = run_passes(typed.graph, typed.types, passes);
  const auto is_lacking = [](const ArrayType& type) { return lacks_products(type.dtype); };
  if (!options.optimise || std::ranges::none_of(typed.types, is_lacking)) return result;
  const TypedGraph halves = infer_all(std::move(result), known);
  return run_pass("widen_half_types", halves.graph.graph(), passes, [&](const ir::Graph&) {
    return widen_half_types(halves.graph, halves.types, options.training, lacks_products);
  });
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
  training.graph = run_pass("gradient", forward, configured_passes(), [&](ir::Graph graph) {
    std::vector<ir::Entry> gradients = gradient(forward, training.head_grads, wrt, options);
    for (std::size_t i = 0; i < wrt.size(); ++i) {
      if (!gradients[i]) {
        gradients[i] = apply("zeros_like", {Value(wrt[i])}).entry();
        gradients[i].node->name = wrt[i].node->name + "_no_grad";
      }
      graph.outputs.push_back(std::move(gradients[i]));
    }
    return graph;
  });
  return training;
}

namespace {

std::size_t planned_bytes(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                          const PlanOptions& options, const PreparedKernels& kernels = {}) {
  return plan_graph_memory(graph, types, plan_schedule(graph, options), options, kernels)
      .arena_bytes;
}

// Types and kernels of what a fusion has left, and the types of what it has made.
TypedGraph typed_fusion(PointwiseFusion fusion, const IndexedGraph& graph,
                        const std::vector<ArrayType>& types, const PreparedKernels& kernels) {
  TypedGraph fused{IndexedGraph(std::move(fusion.graph)), {}, {}};
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

// The same, but none where it would take more memory: what a group reads has to be kept until all
// of it runs.
std::optional<TypedGraph> pointwise_fused(const TypedGraph& typed, const PlanOptions& options) {
  auto fused = neighbours_fused(typed.graph, typed.types, options, typed.kernels);
  if (fused && planned_bytes(fused->graph, fused->types, options, fused->kernels) >
                   planned_bytes(typed.graph, typed.types, options, typed.kernels))
    fused.reset();
  return fused;
}

// Bytes of what pointwise_fused() would leave: searches ask for it a hundred times, so that each
// graph is planned once.
std::size_t fused_bytes(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                        const PlanOptions& options, const PreparedKernels& kernels = {}) {
  const std::size_t apart = planned_bytes(graph, types, options, kernels);
  const auto fused = neighbours_fused(graph, types, options, kernels);
  return fused ? std::min(apart, planned_bytes(fused->graph, fused->types, options, fused->kernels))
               : apart;
}

// Whether the configuration asks for recomputation.
bool saves_memory() {
  const auto& wish = config().memory_plan;
  return wish.backward_do_mirror || wish.memory_opt > 0 || wish.backward_mirror_budget > 0;
}

TypedGraph fold(TypedGraph typed, const std::map<const ir::Node*, ArrayType>& known, Device device,
                const PassOptions& passes) {
  return infer_all(
      run_pass("fold_constants", typed.graph.graph(), passes,
               [&](const ir::Graph&) { return fold_graph(typed.graph, typed.types, device); }),
      known);
}

// Plans that compute values of the forward part again. Values in two layouts take a little memory,
// which is worth the time that they save unless somebody asks for the smallest plan, or they do not
// fit.
class Saving {
 public:
  // `lays_out`: values may lie in layouts at all.
  Saving(const TypedGraph& plain, const std::map<const ir::Node*, ArrayType>& known,
         const PlanOptions& options, const PassOptions& passes, bool lays_out)
      : plain_(plain), known_(known), options_(options), passes_(passes), lays_out_(lays_out) {}

  // The smallest of what the rows that are set ask for: none can make the plan of another larger.
  TypedGraph least() const {
    const auto& wish = config().memory_plan;
    const auto budget = static_cast<std::size_t>(int64_t{wish.backward_mirror_budget});
    const bool smallest = wish.memory_opt > 0;
    std::optional<TypedGraph> least;
    std::size_t needed = std::numeric_limits<std::size_t>::max();
    const auto offer = [&](TypedGraph candidate) {
      const std::size_t its = bytes(candidate);
      if (its >= needed) return;
      needed = its;
      least.emplace(std::move(candidate));
    };
    offer(lay(plain_));
    const bool fits = needed <= budget;
    if (wish.backward_do_mirror || smallest) offer(lay(recomputed(Recompute::kCheap)));
    if (smallest) {
      TypedGraph any = recomputed(Recompute::kAny);
      if (lays_out_) offer(lay(any));
      offer(std::move(any));
    }
    if (budget > 0 && !fits) offer(within(budget));
    return *std::move(least);
  }

 private:
  enum class Recompute { kCheap, kAny };

  // What reordered weights and their gradients, and values in two layouts, may take of a plan:
  // the less it is, the less is computed again.
  static constexpr double kReorderedParts[] = {0.04, 0.1, 0.2};
  // Values of up to which part of the widest lie in layouts, where not all may.
  static constexpr std::size_t kMostParts = 4;

  TypedGraph within(std::size_t budget) const {
    if (!lays_out_) return recomputed(Recompute::kAny, budget);
    std::vector<TypedGraph> tight;
    for (const double part : kReorderedParts) {
      const auto room = static_cast<std::size_t>(part * static_cast<double>(budget));
      TypedGraph candidate = recomputed(Recompute::kAny, budget - room);
      const std::size_t needed = bytes(candidate);
      if (needed > budget) return candidate;
      if (needed > budget - room) break;
      if (TypedGraph laid = lay(candidate); bytes(laid) <= budget) return laid;
      tight.push_back(std::move(candidate));
    }
    for (std::size_t part = 2; part <= kMostParts; part *= 2) {
      for (const TypedGraph& candidate : tight)
        if (TypedGraph laid = lay(candidate, widest_value(candidate) / part); bytes(laid) <= budget)
          return laid;
    }
    return recomputed(Recompute::kAny, budget);
  }

  // In plain rows. Without a budget, as small as it gets.
  TypedGraph recomputed(Recompute what, std::size_t budget = 0) const {
    MirrorOptions mirror_options;
    mirror_options.cheap = true;
    mirror_options.segments = what == Recompute::kAny;
    mirror_options.split = !options_.device.is_gpu();  // kernels of the parts are for CPUs
    mirror_options.budget = budget;
    mirror_options.bytes = [&](const IndexedGraph& candidate, const std::vector<ArrayType>& types) {
      return fused_bytes(candidate, types, options_);
    };
    return infer_all(run_pass("mirror", plain_.graph.graph(), passes_,
                              [&](const ir::Graph&) {
                                return mirror(plain_.graph, plain_.types, options_.forward_outputs,
                                              mirror_options);
                              }),
                     known_);
  }
  TypedGraph lay(const TypedGraph& typed,
                 std::size_t widest = std::numeric_limits<std::size_t>::max()) const {
    return lays_out_
               ? laid_out(typed, known_, passes_,
                          {.training = options_.training, .differentiated = true, .widest = widest})
               : typed;
  }
  // Of what lies in the plan's own memory.
  static std::size_t widest_value(const TypedGraph& typed) {
    const IndexedGraph& graph = typed.graph;
    std::vector<bool> given(typed.types.size());
    for (int n : graph.variables()) given[static_cast<std::size_t>(graph.first_entry(n))] = true;
    for (int entry : graph.outputs()) given[static_cast<std::size_t>(entry)] = true;
    std::size_t widest = 0;
    for (std::size_t e = 0; e < given.size(); ++e) {
      const ArrayType& type = typed.types[e];
      const auto elements = static_cast<std::size_t>(type.shape.size());
      if (!given[e]) widest = std::max(widest, elements * dtype_size(type.dtype));
    }
    return widest;
  }
  std::size_t bytes(const TypedGraph& typed) const {
    return fused_bytes(typed.graph, typed.types, options_, typed.kernels);
  }

  const TypedGraph& plain_;
  const std::map<const ir::Node*, ArrayType>& known_;
  const PlanOptions& options_;
  const PassOptions& passes_;
  const bool lays_out_;
};

// What is to run: fused or mirrored, and laid out.
TypedGraph transformed(TypedGraph folded, const std::map<const ir::Node*, ArrayType>& known,
                       const PlanOptions& options, const PassOptions& passes) {
  const bool optimises = options.optimise && is_pure(folded.graph);
  const bool differentiates =
      options.forward_outputs < static_cast<int>(folded.graph.outputs().size());
  if (optimises && !options.training && !differentiates) return optimise(folded, known, passes);
  // Where a plug-in is loaded: simulated GPUs run the CPU's kernels, one by one.
  if (options.device.is_gpu() && options.fuse_pointwise && is_pure(folded.graph)) {
    if (!options.training && !differentiates) return optimise_for_gpu(folded, known, passes);
    if (!saves_memory()) return train_on_gpu(folded, known, passes);
  }
  if (!saves_memory() || !differentiates) {
    if (!optimises) return folded;
    const LayoutOptions layouts{.training = options.training, .differentiated = differentiates};
    if (!options.training || !differentiates) return laid_out(folded, known, passes, layouts);
    return laid_out(infer_all(run_pass("fuse_norm_relu", folded.graph.graph(), passes,
                                       [&](const ir::Graph&) {
                                         return fuse_norm_relu(folded.graph, folded.types);
                                       }),
                              known),
                    known, passes, layouts);
  }
  return Saving(folded, known, options, passes, optimises).least();
}

}  // namespace

TypedGraph typed_graph(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known,
                       const PlanOptions& options) {
  const PassOptions passes = configured_passes();
  if (options.forward_outputs < static_cast<int>(graph.outputs.size()))
    graph = run_joint_passes(graph, passes);
  TypedGraph folded = fold(infer_all(std::move(graph), known), known, options.device, passes);
  TypedGraph typed = transformed(std::move(folded), known, options, passes);
  auto fused = pointwise_fused(typed, options);
  run_pass("fuse_pointwise", typed.graph.graph(), passes,
           [&](const ir::Graph&) { return (fused ? *fused : typed).graph.graph(); });
  return fused ? *std::move(fused) : std::move(typed);
}

}  // namespace mxnet
