// SPDX-License-Identifier: Apache-2.0
// One walk: RNN and the vector behind it become one node.
#include "graph/gather_weights.h"

#include <memory>
#include <optional>
#include <utility>

#include "graph/rewrite.h"
#include "op/op_def.h"
#include "op/rnn/gathered.h"
#include "op/rnn/layout.h"

namespace mxnet {
namespace {

bool is(const ir::Node& node, std::string_view op) {
  return !node.is_variable() && node.op->name() == op;
}

// The variable of which this is a reshape; null if it is something else.
ir::Entry variable_behind(ir::Entry value) {
  while (is(*value.node, "Reshape") || is(*value.node, "_np_reshape"))
    value = value.node->inputs[0];
  return value.node->is_variable() ? value : ir::Entry{};
}

Replacement gathered(const ir::Node& original, const Ref<ir::Node>& node) {
  const auto& given = *static_cast<const rnn::RnnParams*>(original.params.get());
  const ir::Node& vector = *node->inputs[1].node;
  auto result = make_ref<ir::Node>();
  result->op = &Registry::get().at(rnn::kGatheredRnn);
  result->name = node->name;
  result->extras = node->extras;  // its turn among those who draw random numbers
  result->inputs = node->inputs;
  result->inputs.erase(result->inputs.begin() + 1);
  for (const ir::Entry& part : vector.inputs) {
    result->inputs.push_back(variable_behind(part));
    if (!result->inputs.back()) return std::nullopt;
  }
  auto params = std::make_shared<rnn::RnnParams>(given);
  params->num_weights = static_cast<int32_t>(vector.inputs.size());
  const int count = original.op->num_outputs(original.params.get());
  std::vector<ir::Entry> outputs;
  outputs.reserve(static_cast<std::size_t>(count));
  for (int o = 0; o < count; ++o) outputs.push_back({result, o, 0});
  result->params = std::move(params);
  return outputs;
}

}  // namespace

ir::Graph gather_weights(const IndexedGraph& graph, const std::vector<ArrayType>& types) {
  return rewrite(graph.graph(),
                 [&](const ir::Node& original, const Ref<ir::Node>& node) -> Replacement {
                   if (!is(original, "RNN") || !is(*node->inputs[1].node, "_rnn_param_concat"))
                     return std::nullopt;
                   const int first = graph.first_entry(graph.index_of(original));
                   const DType dtype = types[static_cast<std::size_t>(first)].dtype;
                   if (dtype != DType::kFloat32 && dtype != DType::kFloat64) return std::nullopt;
                   return gathered(original, node);
                 });
}

}  // namespace mxnet
