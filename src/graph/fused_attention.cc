// SPDX-License-Identifier: Apache-2.0
// Self-attention on interleaved projections as fused operators: real ones, and quantized ones whose
// products are computed of the real numbers that the bytes stand for.
#include <fmt/format.h>

#include "base/error.h"
#include "graph/fused_layer.h"
#include "graph/subgraph_op.h"
#include "op/grad.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

struct AttentionParams {
  int32_t heads;
  bool quantized, float_output;
  std::optional<float> min_calib, max_calib;
};

template <int kArrays>
void declare_attention(OpBuilder<AttentionParams>& op) {
  op.num_inputs([](const AttentionParams& p) { return p.quantized ? 3 * kArrays : kArrays; })
      .outputs([](const AttentionParams& p) { return p.quantized && !p.float_output ? 3 : 1; })
      .param("heads", &AttentionParams::heads, "Number of heads that queries and keys have.")
      .param("quantized", &AttentionParams::quantized, false, "Whether data are bytes.")
      .param("enable_float_output", &AttentionParams::float_output, false,
             "Whether the result of bytes is real.")
      .param("min_calib_range", &AttentionParams::min_calib, std::nullopt,
             "Least number of the result, known beforehand.")
      .param("max_calib_range", &AttentionParams::max_calib, std::nullopt,
             "Greatest number of the result.");
}

// The operator on real numbers whose place a node takes.
const char* real_attention(const ir::Node& node) {
  return node.op->name() == kFusedScores ? "_contrib_interleaved_matmul_selfatt_qk"
                                         : "_contrib_interleaved_matmul_selfatt_valatt";
}

void infer_attention(const AttentionParams& params, Infer& infer, const char* real, int arrays) {
  // The real operator's own rule, on real inputs of these shapes.
  const OpDef& op = Registry::get().at(real);
  const std::string heads = std::to_string(params.heads);
  const std::pair<std::string_view, std::string_view> attrs[]{{"heads", heads}};
  const ParamsPtr parsed = op.parse(attrs);
  std::vector<ArrayType> in(static_cast<std::size_t>(arrays)), out(1);
  const DType type = params.quantized ? DType::kFloat32 : infer.in(0).dtype();
  for (int i = 0; i < arrays; ++i) in[static_cast<std::size_t>(i)] = {infer.in(i).shape(), type};
  Infer inner(op, parsed.get(), in, out);
  op.infer(parsed.get(), inner);
  for (int i = 0; i < arrays; ++i) {
    infer.in(i).set_shape(in[static_cast<std::size_t>(i)].shape);
    if (!params.quantized) infer.in(i).set_dtype(in[static_cast<std::size_t>(i)].dtype);
  }
  infer.out(0).set_shape(out[0].shape);
  if (!params.quantized) {
    infer.out(0).set_dtype(out[0].dtype);
    return;
  }
  infer.out(0).set_dtype(params.float_output                    ? DType::kFloat32
                         : params.min_calib && params.max_calib ? DType::kInt8
                                                                : DType::kInt32);
  for (int i = arrays; i < infer.num_in(); ++i)
    infer.in(i).set_dtype(DType::kFloat32).set_shape({1});
  for (int o = 1; o < infer.num_out(); ++o) infer.out(o).set_dtype(DType::kFloat32).set_shape({1});
}

ParamsPtr bind_attention(const void* params, SubgraphList) {
  return std::make_shared<AttentionParams>(*static_cast<const AttentionParams*>(params));
}

std::vector<std::string> attention_output_names(const void* params) {
  const auto& attention = *static_cast<const AttentionParams*>(params);
  if (!attention.quantized || attention.float_output) return {"output"};
  return {"output", "min_output", "max_output"};
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<AttentionParams> scores(kFusedScores), values(kFusedValues);
  scores.doc("Products of queries and keys of self-attention, interleaved.")
      .input("queries_keys_values", "Projections, interleaved for each head.");
  declare_attention<1>(scores);
  scores.infer([](const AttentionParams& params, Infer& infer) {
    infer_attention(params, infer, "_contrib_interleaved_matmul_selfatt_qk", 1);
  });
  values.doc("Values of self-attention weighted by it.")
      .input("queries_keys_values", "Projections, interleaved for each head.")
      .input("attention", "Weights.");
  declare_attention<2>(values);
  values.infer([](const AttentionParams& params, Infer& infer) {
    infer_attention(params, infer, "_contrib_interleaved_matmul_selfatt_valatt", 2);
  });
  return add_subgraph_op(kFusedScores, {bind_attention, attention_output_names}) &&
         add_subgraph_op(kFusedValues, {bind_attention, attention_output_names});
}();

}  // namespace

bool is_fused_attention(const ir::Node& node) {
  return !node.is_variable() &&
         (node.op->name() == kFusedScores || node.op->name() == kFusedValues);
}

std::vector<ir::Entry> lowered_attention(const ir::Node& node) {
  if (!is_fused_attention(node)) return {};
  const auto& params = *static_cast<const AttentionParams*>(node.params.get());
  const std::size_t arrays = node.op->name() == kFusedScores ? 1 : 2;
  std::vector<Value> in;
  for (std::size_t i = 0; i < arrays; ++i) {
    const Value array(node.inputs.at(i));
    in.push_back(params.quantized
                     ? apply("_contrib_dequantize", {array, Value(node.inputs.at(arrays + 2 * i)),
                                                     Value(node.inputs.at(arrays + 2 * i + 1))})
                     : array);
  }
  const Value real = apply(real_attention(node), in, {{"heads", std::to_string(params.heads)}});
  if (!params.quantized || params.float_output) {
    real.entry().node->name = node.name;  // calibration watches it
    return {real.entry()};
  }
  if (!params.min_calib || !params.max_calib) {
    throw Error(ErrorCode::kValue, node.op->name(),
                fmt::format("{}: given no range of the result, expected min_calib_range and "
                            "max_calib_range, or enable_float_output",
                            node.name));
  }
  const Value bytes = apply("_contrib_quantize_v2", {real},
                            {{"out_type", "int8"},
                             {"min_calib_range", fmt::format("{}", *params.min_calib)},
                             {"max_calib_range", fmt::format("{}", *params.max_calib)}});
  return {bytes.entry(), output(bytes, 1).entry(), output(bytes, 2).entry()};
}

}  // namespace mxnet
