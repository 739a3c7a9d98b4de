// SPDX-License-Identifier: Apache-2.0
// Rules about one node.
#include "graph/symbol_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "graph/subgraph_op.h"
#include "graph/symbol_attributes.h"
#include "op/named_errors.h"
#include "op/op_def.h"
#include "op/value_count.h"

namespace mxnet {
namespace {

// How variables that are made for states and parameters start, as the JSON of an initializer, where
// that is not the choice of whoever initializes the network.
struct InputInitializer {
  std::string_view op;
  std::size_t input;
  const char* json;
};
constexpr const char* kZero = "[\"zero\", {}]";
constexpr const char* kOne = "[\"one\", {}]";
constexpr InputInitializer kInitializers[] = {
    {"BatchNorm", 3, kZero},
    {"BatchNorm", 4, kOne},
    {"BatchNorm_v1", 3, kZero},
    {"BatchNorm_v1", 4, kOne},
    {"_contrib_BatchNormWithReLU", 3, kZero},
    {"_contrib_BatchNormWithReLU", 4, kOne},
    {"_contrib_SyncBatchNorm", 3, kZero},
    {"_contrib_SyncBatchNorm", 4, kOne},
    {"IdentityAttachKLSparseReg", 1, kZero},
    {"LeakyReLU", 1, "[\"Constant\", {\"value\": 0.25}]"},
    {"UpSampling", 1, "[\"bilinear\", {}]"},
};

}  // namespace

int32_t mutations_of(const ir::Node& node) {
  const auto* variable = dynamic_cast<const VariableNode*>(&node);
  return variable == nullptr ? 0 : variable->mutations;
}

int num_graph_args(const OpDef& op) {
  const auto count = std::count_if(op.args().begin(), op.args().end(),
                                   [](const OpArg& arg) { return arg.type == "Symbol"; });
  // Some operators on arrays show the same type of theirs.
  return count == 0 || !takes_subgraphs(op) ? 0 : static_cast<int>(count);
}

int expected_inputs(const ir::Node& node) {
  if (node.is_variable()) return 0;
  const int count = node.op->num_inputs(node.params.get()) - num_graph_args(*node.op);
  const int outputs = node.op->num_outputs(node.params.get());
  if (count < 0 || count > kMostValues || outputs < 0 || outputs > kMostValues) {
    throw Error(ErrorCode::kValue, title_of(node),
                fmt::format("given {} inputs and {} outputs, expected 0 to {} of each", count,
                            outputs, kMostValues));
  }
  return count;
}

std::string input_name(const ir::Node& node, int i) {
  return node.op->input_name(node.params.get(), i);
}

ir::Entry variable_for_input(const ir::Node& node, const std::string& input) {
  Ref<ir::Node> variable(new VariableNode);
  variable->name = node.name.empty() ? input : node.name + "_" + input;
  variable->attrs = node.attrs;
  return {std::move(variable), 0, 0};
}

void set_input_initializer(const ir::Node& node, std::size_t i) {
  ir::Node& input = *node.inputs[i].node;
  if (!input.is_variable() || find_attr(input, "__init__") != nullptr) return;
  for (const InputInitializer& known : kInitializers)
    if (known.op == node.op->name() && known.input == i) set_attr(&input, "__init__", known.json);
}

void check_inputs(const ir::Node& node, std::string_view where) {
  const int expected = expected_inputs(node);
  if (static_cast<int>(node.inputs.size()) == expected) return;
  throw Error(ErrorCode::kValue, title_of(node),
              fmt::format("given {} inputs{}, expected {}", node.inputs.size(), where, expected));
}

void count_mutations(ir::Node* node) {
  for (ir::Entry& input : node->inputs)
    if (input.node->is_variable()) input.version = mutations_of(*input.node);
  for (int i : node->op->state_inputs(node->params.get())) {
    ir::Entry& input = node->inputs[static_cast<std::size_t>(i)];
    auto* variable = dynamic_cast<VariableNode*>(input.node.get());
    if (variable != nullptr && variable->mutations < std::numeric_limits<int32_t>::max())
      input.version = ++variable->mutations;  // files may begin anywhere
  }
}

}  // namespace mxnet
