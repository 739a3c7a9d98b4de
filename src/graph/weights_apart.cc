// SPDX-License-Identifier: Apache-2.0
// One walk: each convolution's parameters go to a node that makes two of them, or one.
#include "graph/weights_apart.h"

#include <memory>
#include <utility>

#include "graph/rewrite.h"
#include "op/fused/conv.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

Replacement apart(const ir::Node& original, const Ref<ir::Node>& node) {
  if (original.is_variable() || original.op->name() != FusedConvParams::kOnGpu) return std::nullopt;
  const auto& given = *static_cast<const FusedConvParams*>(original.params.get());
  if (!given.batch_norm && !given.turns_weight) return std::nullopt;
  auto conv = std::make_shared<FusedConvParams>(given);
  conv->batch_norm = conv->turns_weight = false;
  conv->conv.no_bias = given.conv.no_bias && !given.batch_norm;
  auto result = make_ref<ir::Node>();
  result->op = original.op;
  result->name = node->name;
  result->inputs = node->inputs;
  // A kernel of one pixel looks the same either way.
  const bool turns = given.turns_weight && given.conv.kernel.size() != 1;
  if (given.batch_norm || turns) {
    auto made = std::make_shared<FusedConvParams>(given);
    made->turns_weight = turns;
    auto weight = make_ref<ir::Node>();
    weight->op = &Registry::get().at(FusedConvParams::kWeightOnGpu);
    weight->name = node->name + "_weight";
    // What is made takes the places of what it is made of.
    const auto first = result->inputs.begin() + given.weight_input();
    const auto last = given.batch_norm ? result->inputs.end() : first + 1;
    weight->inputs.assign(first, last);
    weight->params = std::move(made);
    *first = {weight, 0, 0};
    if (given.batch_norm) {
      result->inputs.erase(first + 1, last);
      result->inputs.push_back({std::move(weight), 1, 0});
    }
  }
  result->params = std::move(conv);
  return std::vector<ir::Entry>{{std::move(result), 0, 0}};
}

}  // namespace

ir::Graph weights_apart(const ir::Graph& graph) { return rewrite(graph, apart); }

}  // namespace mxnet
