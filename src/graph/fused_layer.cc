// SPDX-License-Identifier: Apache-2.0
// The fused layers as operators: what a node carries becomes part of its parameters.
#include "graph/fused_layer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "graph/subgraph_op.h"
#include "graph/subgraph_types.h"
#include "graph/symbol.h"
#include "op/fused/quantized_layer.h"
#include "op/op_builder.h"
#include "op/params/batch_norm_params.h"

namespace mxnet {
namespace {

// The parameter that counts the inputs of an operator which lists none of them.
struct InputCount {
  const char* op;
  const char* parameter;
};

}  // namespace

// Builders alone write definitions; those for operators with parameters have no word for this.
template <>
class OpBuilder<InputCount> {
 public:
  static void set(const InputCount& count) {
    const_cast<OpDef&>(Registry::get().at(count.op)).key_var_num_args_ = count.parameter;
  }
};

namespace {

struct LayerParams {
  int32_t num_args;
  // Said by attributes although the graph shows it: kept for those who read them.
  bool with_bn, with_act, with_sum, with_postsum_act, with_eltwise;
  bool quantized, float_output;
  std::optional<float> min_calib, max_calib;
  std::optional<bool> channel_wise;
  // Of what the node carries.
  std::shared_ptr<const ir::Graph> graph;
  int arrays = 0;
  std::vector<int> mutated;
  QuantizedLayer layer;

  int num_inputs() const { return graph ? quantized ? layer.num_inputs() : arrays : 1; }
  int num_outputs() const { return quantized && !float_output ? 3 : 1; }
};

[[noreturn]] void unfit(const char* op, const ir::Node& node) {
  throw Error(ErrorCode::kValue, op,
              fmt::format("given a graph with {} ({}), expected one layer and what may follow it",
                          node.op->name(), node.name));
}

// Takes the next operator behind the layer into account.
void follow(const char* op, const ir::Node& node, QuantizedLayer* layer) {
  const std::string& name = node.op->name();
  if (name == "BatchNorm" && layer->is_convolution && layer->post_ops.empty()) {
    const auto& norm = *static_cast<const BatchNormParams*>(node.params.get());
    layer->batch_norm = true;
    layer->fix_gamma = norm.fix_gamma;
    layer->eps = norm.eps;
  } else if (name == "elemwise_add" && !layer->sum) {
    layer->sum = true;
    layer->post_ops.push_back({PostOp::Kind::kSum});
  } else if (const auto activation = activation_of(*node.op, node.params.get())) {
    layer->post_ops.push_back(*activation);
  } else {
    unfit(op, node);
  }
}

QuantizedLayer layer_of(const char* op, const ir::Graph& graph) {
  QuantizedLayer layer;
  bool started = false;
  for (const ir::Node* node : ir::topological_order(graph.outputs)) {
    if (node->is_variable()) continue;
    if (started) {
      follow(op, *node, &layer);
    } else if (node->op->name() == "Convolution") {
      layer.is_convolution = true;
      layer.conv = *static_cast<const ConvParams*>(node->params.get());
    } else if (node->op->name() == "FullyConnected") {
      layer.dense = *static_cast<const FullyConnectedParams*>(node->params.get());
    } else {
      unfit(op, *node);
    }
    started = true;
  }
  return layer;
}

// The kernel reads the graph's variables in their order, and knows of one value from each operator
// to the next.
void check_chain(const char* op, const ir::Graph& graph) {
  const ir::Node* last = nullptr;
  std::vector<ir::Node*> arrays;
  for (const ir::Node* node : ir::topological_order(graph.outputs)) {
    if (node->is_variable()) continue;
    bool goes_on = last == nullptr;
    for (const ir::Entry& input : node->inputs) {
      if (input.node->is_variable()) {
        arrays.push_back(input.node.get());
      } else if (input.node.get() == last && input.index == 0) {
        goes_on = true;
      } else {
        unfit(op, *node);
      }
    }
    if (!goes_on) unfit(op, *node);
    last = node;
  }
  const ir::Entry& result = graph.outputs[0];
  if (last != nullptr && result.node.get() == last && result.index == 0 &&
      arrays == list_inputs(graph).nodes)
    return;
  throw Error(ErrorCode::kValue, op,
              "given a graph of another form, expected one layer on variables, in their order, and "
              "what may follow it");
}

ParamsPtr bind_layer(const char* op, const void* parsed, SubgraphList graphs) {
  if (graphs.size() != 1 || graphs[0]->outputs.size() != 1) {
    throw Error(ErrorCode::kValue, op,
                fmt::format("given {} graphs of {} outputs, expected one of one output",
                            graphs.size(), graphs.empty() ? 0 : graphs[0]->outputs.size()));
  }
  auto params = std::make_shared<LayerParams>(*static_cast<const LayerParams*>(parsed));
  params->graph = graphs[0];
  const InputList inputs = list_inputs(*graphs[0]);
  params->arrays = static_cast<int>(inputs.nodes.size());
  for (std::size_t i = 0; i < inputs.nodes.size(); ++i)
    if (inputs.auxiliary[i]) params->mutated.push_back(static_cast<int>(i));
  if (!params->quantized) return params;
  QuantizedLayer& layer = params->layer;
  check_chain(op, *graphs[0]);
  layer = layer_of(op, *graphs[0]);
  layer.float_result = params->float_output;
  layer.min = params->min_calib;
  layer.max = params->max_calib;
  layer.weight_in_bytes = !layer.is_convolution && !params->channel_wise.value_or(false);
  if (layer.num_arrays() != params->arrays)
    throw Error(ErrorCode::kValue, op,
                fmt::format("given a graph with {} inputs, expected {}", params->arrays,
                            layer.num_arrays()));
  return params;
}

// Shapes are those of the graph on real numbers; types are the node's own.
void infer_layer(const LayerParams& params, Infer& infer) {
  SubgraphTypes types(params.graph, infer);
  ArrayType& result = types.output(0);
  const bool quantized = params.quantized;
  const QuantizedLayer& layer = params.layer;
  for (int i = 0; i < params.arrays; ++i) {
    types.variable(i) = {infer.in(i).shape(), quantized ? DType::kFloat32 : infer.in(i).dtype()};
  }
  result = {infer.out(0).shape(), quantized ? DType::kFloat32 : infer.out(0).dtype()};
  types.complete();
  for (int i = 0; i < params.arrays; ++i) {
    InferArg in = infer.in(i);
    in.set_shape(types.variable(i).shape);
    const bool other = layer.sum && i == params.arrays - 1;
    const bool byte_weight = layer.weight_in_bytes && i > 0 && !other;
    if (!quantized) {
      in.set_dtype(types.variable(i).dtype);
    } else if (i == 0 || other) {
      const DType type = in.dtype();
      if (type != DType::kUnknown && type != DType::kInt8 && type != DType::kUInt8)
        in.fail("int8 or uint8");
    } else {
      in.set_dtype(byte_weight ? DType::kInt8 : DType::kFloat32);
    }
  }
  infer.out(0).set_shape(result.shape);
  infer.out(0).set_dtype(quantized ? layer.result_type() : result.dtype);
  for (int i = params.arrays; quantized && i < infer.num_in(); ++i)
    infer.in(i).set_dtype(DType::kFloat32).set_shape({1});
  for (int o = 1; o < infer.num_out(); ++o) infer.out(o).set_dtype(DType::kFloat32).set_shape({1});
}

void declare_layer(OpBuilder<LayerParams>& op) {
  op.num_inputs([](const LayerParams& p) { return p.num_inputs(); })
      .outputs([](const LayerParams& p) { return p.num_outputs(); })
      .mutates([](const LayerParams& p) { return p.mutated; })
      .param("num_args", &LayerParams::num_args, 1, "Number of inputs; the graph knows it.")
      .unlisted()
      .param("quantized", &LayerParams::quantized, false, "Whether data are bytes.")
      .unlisted()
      .param("min_calib_range", &LayerParams::min_calib, std::nullopt, "Least of the result.")
      .unlisted()
      .param("max_calib_range", &LayerParams::max_calib, std::nullopt, "Greatest of the result.")
      .unlisted()
      .infer(infer_layer);
}

std::vector<std::string> output_names(const void* params, const char* min, const char* max) {
  std::vector<std::string> names{"output"};
  if (static_cast<const LayerParams*>(params)->num_outputs() == 3) {
    names.emplace_back(min);
    names.emplace_back(max);
  }
  return names;
}

// ---- attention ---------------------------------------------------------------------------------

[[maybe_unused]] const bool defined = [] {
  OpBuilder<LayerParams> conv(kFusedConv), rows(kFusedRows);
  conv.doc("A convolution with what follows it, which the node carries as its graph.")
      .param("with_bn", &LayerParams::with_bn, false, "With batch normalisation.")
      .unlisted()
      .param("with_act", &LayerParams::with_act, false, "With an activation.")
      .unlisted()
      .param("with_sum", &LayerParams::with_sum, false, "With the sum with another branch.")
      .unlisted()
      .param("with_postsum_act", &LayerParams::with_postsum_act, false,
             "With an activation of the sum.")
      .unlisted();
  declare_layer(conv);
  rows.doc("A fully connected layer with what follows it, which the node carries as its graph.")
      .param("with_eltwise", &LayerParams::with_eltwise, false, "With an activation.")
      .unlisted()
      .param("enable_float_output", &LayerParams::float_output, false,
             "Whether the result of bytes is real.")
      .unlisted()
      .param("channel_wise_quantize", &LayerParams::channel_wise, std::nullopt,
             "Whether weights are real, and brought to bytes for each channel.")
      .unlisted();
  declare_layer(rows);
  OpBuilder<InputCount>::set({kFusedConv, "num_args"});
  OpBuilder<InputCount>::set({kFusedRows, "num_args"});
  return add_subgraph_op(kFusedConv, {[](const void* params, SubgraphList graphs) {
                                        return bind_layer(kFusedConv, params, graphs);
                                      },
                                      [](const void* params) {
                                        return output_names(params, "output_min", "output_max");
                                      }}) &&
         add_subgraph_op(kFusedRows, {[](const void* params, SubgraphList graphs) {
                                        return bind_layer(kFusedRows, params, graphs);
                                      },
                                      [](const void* params) {
                                        return output_names(params, "min_output", "max_output");
                                      }});
}();

bool is_layer(const ir::Node& node) {
  return !node.is_variable() && (node.op->name() == kFusedConv || node.op->name() == kFusedRows);
}
}  // namespace

bool is_fused_layer(const ir::Node& node) { return is_layer(node) || is_fused_attention(node); }

Ref<ir::Node> lowered_layer(const ir::Node& node) {
  if (!is_layer(node)) return {};
  const auto params = std::static_pointer_cast<const LayerParams>(node.params);
  if (!params->quantized || !params->graph) return {};
  auto lowered = make_ref<ir::Node>();
  lowered->op = &Registry::get().at(QuantizedLayer::kOp);
  lowered->params = ParamsPtr(params, &params->layer);
  lowered->name = node.name;
  lowered->inputs = node.inputs;
  return lowered;
}

bool stands_for_graph(const ir::Node& node) {
  if (node.is_variable() || node.subgraphs().size() != 1) return false;
  if (node.op->name() == "_CachedOp" || node.op->name() == "_CachedOpThreadSafe") return true;
  return is_layer(node) && !static_cast<const LayerParams*>(node.params.get())->quantized;
}

}  // namespace mxnet
