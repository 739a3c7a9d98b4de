// SPDX-License-Identifier: Apache-2.0
// Forward graph plus gradients.
#include "exec/plan_graph.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "base/omp.h"
#include "exec/fold_values.h"
#include "exec/pointwise_graph.h"
#include "exec/saving_graph.h"
#include "graph/channels_last.h"
#include "graph/cse.h"
#include "graph/draw_order.h"
#include "graph/fuse_attention.h"
#include "graph/fuse_conv.h"
#include "graph/fuse_dense.h"
#include "graph/fuse_norm_relu.h"
#include "graph/gather_weights.h"
#include "graph/gradient.h"
#include "graph/partition.h"
#include "graph/passes.h"
#include "graph/sink_strides.h"
#include "graph/weights_apart.h"
#include "graph/widen.h"
#include "op/grad.h"
#include "op/onednn/instructions.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

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
// averages, and the gradient that moves them is the last to look at them. The gamma that it sets to
// ones is ones to it before and after; whoever else reads it takes its turn.
bool is_pure(const IndexedGraph& graph) {
  std::vector<bool> written(static_cast<std::size_t>(graph.num_entries()));
  std::vector<bool> clobbered(written.size());
  for (int n = 0; n < graph.num_nodes(); ++n) {
    if (!graph.node(n).control_deps().empty()) return false;
    for (int entry : graph.mutated(n)) {
      if (!graph.node(graph.node_of(entry)).is_variable()) return false;
      written[static_cast<std::size_t>(entry)] = true;
    }
    const ir::Node& node = graph.node(n);
    if (node.is_variable()) continue;
    for (const int i : node.op->clobbered_inputs(node.params.get()))
      clobbered[static_cast<std::size_t>(graph.inputs(n)[static_cast<std::size_t>(i)])] = true;
  }
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    const std::span<const int> inputs = graph.inputs(n);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto entry = static_cast<std::size_t>(inputs[i]);
      if (written[entry] && !has_state_at(node, static_cast<int>(i))) return false;
      if (clobbered[entry] && !node.op->type_only(static_cast<int>(i)) &&
          node.op->state_inputs(node.params.get()).empty())
        return false;
    }
  }
  return true;
}

using Known = std::map<const ir::Node*, ArrayType>;

// Behind a pass. What it leaves as it is has the types that it had.
TypedGraph passed(const char* name, TypedGraph typed, const Known& known, const PassOptions& passes,
                  const std::function<ir::Graph(const TypedGraph&)>& pass) {
  ir::Graph result =
      run_pass(name, typed.graph.graph(), passes, [&](const ir::Graph&) { return pass(typed); });
  if (result.outputs == typed.graph.graph().outputs) return typed;
  return infer_all(std::move(result), known);
}

TypedGraph optimise(TypedGraph typed, const Known& known, const PassOptions& passes) {
  TypedGraph convolved =
      passed("fuse_convolutions", std::move(typed), known, passes, [](const TypedGraph& before) {
        return fuse_convolutions(before.graph, before.types, FuseOptions::configured());
      });
  TypedGraph sunk =
      passed("sink_strides", std::move(convolved), known, passes,
             [](const TypedGraph& before) { return sink_strides(before.graph, before.types); });
  TypedGraph fused =
      passed("fuse_dense", std::move(sunk), known, passes, [](const TypedGraph& before) {
        return fuse_dense(before.graph, before.types, FuseDenseOptions::configured());
      });
  const TypedGraph gathered =
      passed("gather_weights", std::move(fused), known, passes,
             [](const TypedGraph& before) { return gather_weights(before.graph, before.types); });
  return laid_out(gathered, known, passes, {});
}

TypedGraph channels_turned(TypedGraph typed, const Known& known, const PassOptions& passes) {
  if (!config().cuda.allow_tensor_core) return typed;
  return passed("channels_last", std::move(typed), known, passes, [](const TypedGraph& before) {
    return with_channels_last(before.graph, before.types);
  });
}

// For inference on a GPU.
TypedGraph optimise_for_gpu(TypedGraph typed, const Known& known, const PassOptions& passes) {
  TypedGraph fused =
      passed("fuse_convolutions", std::move(typed), known, passes, [](const TypedGraph& before) {
        return fuse_convolutions(before.graph, before.types, {.on_gpu = true});
      });
  TypedGraph dense =
      passed("fuse_dense", std::move(fused), known, passes, [](const TypedGraph& before) {
        return fuse_dense(before.graph, before.types, {.on_gpu = true});
      });
  TypedGraph attending =
      passed("fuse_attention", std::move(dense), known, passes,
             [](const TypedGraph& before) { return fuse_attention(before.graph, before.types); });
  return passed("weights_apart", channels_turned(std::move(attending), known, passes), known,
                passes,
                [](const TypedGraph& before) { return weights_apart(before.graph.graph()); });
}

// For training on one: a mask of a byte an element is kept, and two values less go through memory.
TypedGraph train_on_gpu(TypedGraph typed, const Known& known, const PassOptions& passes) {
  return passed(
      "fuse_norm_relu", channels_turned(std::move(typed), known, passes), known, passes,
      [](const TypedGraph& before) { return fuse_norm_relu_on_gpu(before.graph, before.types); });
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

namespace {

// `given`: null where all heads have gradients.
TrainingGraph with_gradients(const ir::Graph& forward, std::span<const ir::Entry> wrt,
                             const GradientOptions& options, const std::vector<bool>* given) {
  TrainingGraph training{.graph = forward, .head_grads = {}, .forward_outputs = 0};
  training.forward_outputs = static_cast<int>(forward.outputs.size());
  for (std::size_t o = 0; o < forward.outputs.size(); ++o) {
    ir::Entry& head = training.head_grads.emplace_back();
    if (given != nullptr && !(*given)[o]) continue;
    head = {make_ref<ir::Node>(), 0, 0};
    head.node->name = forward.outputs[o].node->name + "_head_grad";
  }
  training.graph = run_pass("gradient", forward, configured_passes(), [&](ir::Graph graph) {
    std::vector<ir::Entry> gradients = gradient(forward, training.head_grads, wrt, options);
    for (std::size_t i = 0; i < wrt.size(); ++i) {
      if (gradients[i]) continue;
      gradients[i] = apply("zeros_like", {Value(wrt[i])}).entry();
      gradients[i].node->name = wrt[i].node->name + "_no_grad";
    }
    graph.outputs.insert(graph.outputs.end(), gradients.begin(), gradients.end());
    return graph;
  });
  return training;
}

}  // namespace

TrainingGraph training_graph(const ir::Graph& forward, std::span<const ir::Entry> wrt,
                             const std::map<const ir::Node*, ArrayType>& known) {
  const TypedGraph typed = infer_all(forward, known);
  GradientOptions options = configured_gradient();
  options.types = typed.types;
  return with_gradients(forward, wrt, options, nullptr);
}

TrainingGraph twice_differentiable_graph(const ir::Graph& forward, std::span<const ir::Entry> wrt,
                                         const std::vector<bool>& given) {
  GradientOptions options = configured_gradient();
  options.differentiable = true;
  options.ones_for_null = false;
  return with_gradients(forward, wrt, options, &given);
}

namespace {

// Where a plan's steps may be others than the symbol's.
TypedGraph without_reshapes(TypedGraph typed, const Known& known, const PlanOptions& options,
                            const PassOptions& passes) {
  if (!options.optimise && !options.fuse_pointwise) return typed;
  return passed(
      "eliminate_reshapes", std::move(typed), known, passes,
      [](const TypedGraph& before) { return eliminate_reshapes(before.graph, before.types); });
}

TypedGraph fold(TypedGraph typed, const Known& known, const PlanOptions& options,
                const PassOptions& passes) {
  FoldOptions of;
  of.training = options.training;
  of.dead_draws = options.dead_draws;
  return passed("fold_constants", std::move(typed), known, passes, [&](const TypedGraph& before) {
    return fold_graph(before.graph, before.types, options.device, of);
  });
}

// What is to run, of a pure graph: fused or mirrored, and laid out.
TypedGraph transformed(TypedGraph folded, const std::map<const ir::Node*, ArrayType>& known,
                       const PlanOptions& options, const PassOptions& passes) {
  const bool differentiates =
      options.forward_outputs < static_cast<int>(folded.graph.outputs().size());
  if (options.optimise && !options.training && !differentiates)
    return optimise(std::move(folded), known, passes);
  // Where a plug-in is loaded: simulated GPUs run the CPU's kernels, one by one.
  if (options.device.is_gpu() && options.fuse_pointwise) {
    if (!options.training && !differentiates)
      return optimise_for_gpu(std::move(folded), known, passes);
    if (!saves_memory()) return train_on_gpu(std::move(folded), known, passes);
  }
  if (!saves_memory() || !differentiates) {
    if (!options.optimise) return folded;
    const LayoutOptions layouts{.training = options.training, .differentiated = differentiates};
    TypedGraph laid = laid_out(folded, known, passes, layouts);
    return options.training && differentiates ? norms_fused(laid, known, passes) : laid;
  }
  return saving_graph(folded, known, options, passes);
}

}  // namespace

TypedGraph typed_graph(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& variables,
                       const PlanOptions& options) {
  const ProcessWidth width;  // of those who run what is prepared
  const PassOptions passes = configured_passes();
  if (options.forward_outputs < static_cast<int>(graph.outputs.size()))
    graph = run_joint_passes(graph, passes);
  TypedGraph inferred = infer_all(std::move(graph), variables);
  const ir::Graph alive = inferred.graph.graph();
  const Known known = with_sources(inferred, variables);
  TypedGraph folded =
      fold(without_reshapes(std::move(inferred), known, options, passes), known, options, passes);
  // What is fused or computed again would see values as they are later.
  const bool pure = is_pure(folded.graph);
  TypedGraph in_turn{IndexedGraph(with_draws_in_turn(folded.graph, options.training)),
                     std::move(folded.types),
                     {},
                     {}};
  if (!pure) return in_turn;
  TypedGraph typed = transformed(std::move(in_turn), known, options, passes);
  auto fused = pointwise_fused(typed, options);
  run_pass("fuse_pointwise", typed.graph.graph(), passes,
           [&](const ir::Graph&) { return (fused ? *fused : typed).graph.graph(); });
  return fused ? *std::move(fused) : std::move(typed);
}

}  // namespace mxnet
