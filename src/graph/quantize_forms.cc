// SPDX-License-Identifier: Apache-2.0
// One row for each operator with a quantized form.
#include "graph/quantize_forms.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/leaked.h"
#include "graph/symbol_attributes.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

using Form = std::optional<QuantizedForm>;

// An attribute as it was written, or what its operator takes for one that was not.
std::string_view text(const ir::Node& node, const char* key, std::string_view initial) {
  const std::string* given = find_attr(node, key);
  return given == nullptr ? initial : std::string_view(*given);
}

bool is_true(const ir::Node& node, const char* key, std::string_view initial = "0") {
  const std::string_view given = text(node, key, initial);
  return given == "1" || given == "True" || given == "true";
}

QuantizedForm with_inputs(const ir::Node& node, const char* op,
                          const std::vector<std::size_t>& in_bytes) {
  QuantizedForm form;
  form.op = op;
  form.in_bytes.resize(node.inputs.size());
  for (const std::size_t i : in_bytes)
    if (i < form.in_bytes.size()) form.in_bytes[i] = true;
  return form;
}

QuantizedForm with_all(const ir::Node& node, const char* op) {
  QuantizedForm form;
  form.op = op;
  form.in_bytes.assign(node.inputs.size(), true);
  return form;
}

QuantizedForm following(QuantizedForm form) {
  form.follows = true;
  return form;
}

QuantizedForm wide(QuantizedForm form) {
  form.wide_result = true;
  return form;
}

Form convolution(const ir::Node& node, bool) {
  const std::string_view layout = text(node, "layout", "None");
  if (layout != "None" && layout.substr(0, 2) != "NC") return std::nullopt;
  QuantizedForm form = wide(with_all(node, "_contrib_quantized_conv"));
  form.signed_data = true;  // of uint8 it has another range and another bias, for existing files
  return form;
}

Form fully_connected(const ir::Node& node, bool) {
  return wide(with_all(node, "_contrib_quantized_fully_connected"));
}

Form activation(const ir::Node& node, bool) {
  if (text(node, "act_type", "") != "relu") return std::nullopt;
  QuantizedForm form = following(with_inputs(node, "_contrib_quantized_act", {0}));
  form.of_unsigned = "relu";  // it would call them int8, those above 127 negative
  return form;
}

Form pooling(const ir::Node& node, bool) {
  const std::string_view kind = text(node, "pool_type", "max");
  const std::string_view layout = text(node, "layout", "None");
  if ((kind != "max" && kind != "avg") || (layout != "None" && layout.substr(0, 2) != "NC"))
    return std::nullopt;
  return following(with_inputs(node, "_contrib_quantized_pooling", {0}));
}

Form flatten(const ir::Node& node, bool) {
  return following(with_inputs(node, "_contrib_quantized_flatten", {0}));
}

Form concat(const ir::Node& node, bool) {
  return following(with_all(node, "_contrib_quantized_concat"));
}

Form add(const ir::Node& node, bool) {
  return following(wide(with_all(node, "_contrib_quantized_elemwise_add")));
}

Form multiply(const ir::Node& node, bool) {
  return following(wide(with_all(node, "_contrib_quantized_elemwise_mul")));
}

Form batch_norm(const ir::Node& node, bool) {
  if (text(node, "axis", "1") != "1") return std::nullopt;
  QuantizedForm form = following(with_inputs(node, "_contrib_quantized_batch_norm", {0}));
  form.needs_range = true;
  // The quantized operator reads gamma, whatever fix_gamma says.
  if (is_true(node, "fix_gamma", "True")) form.ones = 1;
  return form;
}

Form embedding(const ir::Node& node, bool) {
  return following(with_inputs(node, "_contrib_quantized_embedding", {1}));
}

Form rnn(const ir::Node& node, bool) {
  if (text(node, "mode", "") != "lstm" || is_true(node, "use_sequence_length")) return std::nullopt;
  QuantizedForm form = with_inputs(node, "_contrib_quantized_rnn", {0});
  form.float_result = true;
  form.quantizer = "_contrib_quantize_asym";
  form.attrs.emplace_back("quantized", "true");
  return form;
}

QuantizedForm fused(QuantizedForm form, const char* yes) {
  form.attrs.emplace_back("quantized", yes);
  return wide(std::move(form));
}

// Weights and what batch normalisation reads stay real: they are folded first.
Form fused_convolution(const ir::Node& node, bool) {
  std::vector<std::size_t> in_bytes{0};
  if (is_true(node, "with_sum")) in_bytes.push_back(node.inputs.size() - 1);
  return fused(with_inputs(node, "_sg_mkldnn_conv", in_bytes), "true");
}

Form fused_fully_connected(const ir::Node& node, bool channel_wise) {
  if (!channel_wise) return fused(with_all(node, "_sg_mkldnn_fully_connected"), "True");
  QuantizedForm form = fused(with_inputs(node, "_sg_mkldnn_fully_connected", {0}), "True");
  form.attrs.emplace_back("channel_wise_quantize", "True");
  return form;
}

Form attention_scores(const ir::Node& node, bool) {
  return fused(with_all(node, "_sg_mkldnn_selfatt_qk"), "True");
}

Form attention_values(const ir::Node& node, bool) {
  return fused(with_all(node, "_sg_mkldnn_selfatt_valatt"), "True");
}

}  // namespace

std::optional<QuantizedForm> quantized_form(const ir::Node& node, bool channel_wise) {
  using Forms = std::map<std::string_view, Form (*)(const ir::Node&, bool)>;
  static Leaked<Forms> forms(Forms{
      {"Convolution", convolution},
      {"FullyConnected", fully_connected},
      {"Activation", activation},
      {"Pooling", pooling},
      {"Flatten", flatten},
      {"Concat", concat},
      {"elemwise_add", add},
      {"elemwise_mul", multiply},
      {"BatchNorm", batch_norm},
      {"Embedding", embedding},
      {"RNN", rnn},
      {"_sg_mkldnn_conv", fused_convolution},
      {"_sg_mkldnn_fully_connected", fused_fully_connected},
      {"_sg_mkldnn_selfatt_qk", attention_scores},
      {"_sg_mkldnn_selfatt_valatt", attention_values},
  });
  if (node.is_variable() || !node.control_deps().empty()) return std::nullopt;
  const auto at = forms->find(node.op->name());
  if (at == forms->end() || is_true(node, "quantized")) return std::nullopt;
  return at->second(node, channel_wise);
}

}  // namespace mxnet
