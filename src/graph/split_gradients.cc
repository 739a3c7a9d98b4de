// SPDX-License-Identifier: Apache-2.0
// Two nodes for one.
#include "graph/split_gradients.h"

#include <string>

#include "graph/rewrite.h"
#include "op/grad.h"
#include "op/nn/trilinear_grad.h"
#include "op/op_def.h"
#include "op/windows/conv_geometry.h"

namespace mxnet {
namespace {

Value part(const std::string& op, const ir::Node& whole, int32_t wanted) {
  Attrs attrs;
  for (const auto& attr : whole.attrs)
    if (attr.first != "wanted") attrs.push_back(attr);
  attrs.emplace_back("wanted", std::to_string(wanted));
  std::vector<Value> inputs;
  inputs.reserve(whole.inputs.size());
  for (const ir::Entry& input : whole.inputs) inputs.emplace_back(input);
  Value value = apply(op, inputs, std::move(attrs));
  value.entry().node->name = whole.name;
  return value;
}

Replacement split(const ir::Node& node) {
  if (node.is_variable()) return std::nullopt;
  const std::string& op = node.op->name();
  if (op != "_backward_Convolution" && op != "_backward_Deconvolution") return std::nullopt;
  const int32_t wanted = static_cast<const ConvParams*>(node.params.get())->wanted;
  const int32_t others = wanted & ~kWantData;
  if (others == wanted || others == 0) return std::nullopt;
  std::vector<ir::Entry> gradients{part(op + "_data", node, kWantData).entry()};
  const Value rest = part(op, node, others);
  const int count = node.op->num_outputs(node.params.get());
  for (int o = 1; o < count; ++o) gradients.push_back(output(rest, o - 1).entry());
  return gradients;
}

}  // namespace

ir::Graph split_gradients(const ir::Graph& graph) {
  return rewrite(graph, [](const ir::Node&, const Ref<ir::Node>& node) { return split(*node); });
}

}  // namespace mxnet
