// SPDX-License-Identifier: Apache-2.0
// Types of whole graphs, before and after values are laid out.
#include "exec/typed_graph.h"

#include <fmt/format.h>

#include <utility>

#include "base/config.h"
#include "base/error.h"
#include "exec/call_errors.h"
#include "graph/fuse_norm_relu.h"
#include "graph/infer.h"
#include "op/inline_vector.h"
#include "op/named_errors.h"
#include "op/op_def.h"

namespace mxnet {

void check_dtypes(const IndexedGraph& graph, std::span<const ArrayType> types) {
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    if (node.is_variable()) continue;
    InlineVector<ArrayType, 8> in;
    for (int entry : graph.inputs(n)) in.emplace_back(types[static_cast<std::size_t>(entry)]);
    try {
      check_dtypes(*node.op, node.params.get(), in.span());
    } catch (...) {
      rethrow_told_by(*node.op, title_of(node));
    }
  }
}

namespace {

// Values of operators that read none.
template <class Body>
void for_each_source(const IndexedGraph& graph, const Body& body) {
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    if (!node.is_variable() && node.inputs.empty() && node.op->num_outputs(node.params.get()) == 1)
      body(node, graph.first_entry(n));
  }
}

}  // namespace

TypedGraph with_known(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known) {
  TypedGraph typed{IndexedGraph(std::move(graph)), {}, {}, {}};
  typed.types.resize(static_cast<std::size_t>(typed.graph.num_entries()));
  for (int n : typed.graph.variables())
    typed.types[static_cast<std::size_t>(typed.graph.first_entry(n))] =
        known.at(&typed.graph.node(n));
  for_each_source(typed.graph, [&](const ir::Node& node, int entry) {
    const auto at = known.find(&node);
    if (at != known.end()) typed.types[static_cast<std::size_t>(entry)] = at->second;
  });
  return typed;
}

std::map<const ir::Node*, ArrayType> with_sources(const TypedGraph& typed,
                                                  std::map<const ir::Node*, ArrayType> known) {
  for_each_source(typed.graph, [&](const ir::Node& node, int entry) {
    known.emplace(&node, typed.types[static_cast<std::size_t>(entry)]);
  });
  return known;
}

TypedGraph infer_all(ir::Graph graph, const std::map<const ir::Node*, ArrayType>& known) {
  TypedGraph typed = with_known(std::move(graph), known);
  const bool complete = infer_graph(typed.graph, &typed.types);
  MX_ASSERT(complete);
  return typed;
}

TypedGraph infer_laid_out(LaidOutGraph graph, const std::map<const ir::Node*, ArrayType>& known) {
  TypedGraph result = infer_all(std::move(graph.graph), known);
  for (int n = 0; n < result.graph.num_nodes(); ++n) {
    const auto at = graph.kernels.find(&result.graph.node(n));
    result.kernels.push_back(at == graph.kernels.end() ? nullptr : at->second);
  }
  return result;
}

TypedGraph laid_out(const TypedGraph& typed, const std::map<const ir::Node*, ArrayType>& known,
                    const PassOptions& passes, const LayoutOptions& options) {
  LaidOutGraph laid_out;
  run_pass("lay_out", typed.graph.graph(), passes, [&](const ir::Graph&) {
    laid_out = lay_out(typed.graph, typed.types, options);
    return laid_out.graph;
  });
  return infer_laid_out(std::move(laid_out), known);
}

TypedGraph norms_fused(const TypedGraph& typed, const std::map<const ir::Node*, ArrayType>& known,
                       const PassOptions& passes) {
  const OnednnConfig& rows = config().onednn;
  if (rows.disable_bn_relu_opt || rows.disable_fuse_bn_relu) return typed;
  LaidOutGraph fused;
  run_pass("fuse_norm_relu", typed.graph.graph(), passes, [&](const ir::Graph&) {
    fused = fuse_norm_relu(typed.graph, typed.types, typed.kernels);
    return fused.graph;
  });
  return infer_laid_out(std::move(fused), known);
}

void check_gradient_dtype(const TypedGraph& typed, std::size_t output, const ir::Node& variable,
                          DType dtype) {
  const DType given = typed.types[static_cast<std::size_t>(typed.graph.outputs()[output])].dtype;
  if (given == dtype) return;
  throw Error(ErrorCode::kType, variable.name,
              fmt::format("given a gradient of type {}, expected type {}", dtype_name(given),
                          dtype_name(dtype)));
}

}  // namespace mxnet
