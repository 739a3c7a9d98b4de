// SPDX-License-Identifier: Apache-2.0
// Gradients as graphs: which nodes there are. Their values are tested where they run.
#include "graph/gradient.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/infer.h"
#include "op/op_def.h"
#include "symbols.h"

namespace mxnet::graph_test {
namespace {

std::vector<ir::Entry> gradients(const Symbol& symbol, const std::vector<Symbol>& wrt,
                                 const GradientOptions& options = {}) {
  std::vector<ir::Entry> entries;
  for (const Symbol& variable : wrt) entries.push_back(variable.outputs()[0]);
  return gradient(symbol.graph(), std::vector<ir::Entry>(symbol.outputs().size()), entries,
                  options);
}

std::vector<std::string> operators(const ir::Entry& root) {
  std::vector<std::string> names;
  for (const ir::Node* node : ir::topological_order(std::span(&root, 1)))
    if (!node->is_variable()) names.push_back(node->op->name());
  return names;
}

std::ptrdiff_t count(const std::vector<std::string>& names, const char* name) {
  return std::count(names.begin(), names.end(), name);
}

// x + exp(x) + exp(exp(x)) + ... : x is read `terms` times.
Symbol sum_of(const Symbol& x, int terms) {
  Symbol total = x;
  for (int i = 1; i < terms; ++i)
    total = call("elemwise_add", "s" + std::to_string(i),
                 {total, call("exp", "e" + std::to_string(i), {x})});
  return total;
}

TEST(Gradient, OfAnUnrelatedVariableIsNull) {
  const Symbol x = var("x"), y = var("y");
  const auto grads = gradients(call("exp", "e", {x}), {x, y});
  EXPECT_TRUE(grads[0]);
  EXPECT_FALSE(grads[1]);
}

TEST(Gradient, HeadsWithoutGradientsStartFromOnes) {
  const Symbol x = var("x");
  EXPECT_EQ(count(operators(gradients(call("exp", "e", {x}), {x})[0]), "ones_like"), 1);
}

TEST(Gradient, GivenHeadGradientsAreUsed) {
  const Symbol x = var("x"), head = var("head");
  const Symbol e = call("negative", "n", {x});
  const ir::Entry given[] = {head.outputs()[0]}, wrt[] = {x.outputs()[0]};
  const auto grads = gradient(e.graph(), given, wrt);
  const auto inputs = Symbol(ir::Graph{{grads[0]}}).list_inputs(Symbol::Inputs::kAll);
  EXPECT_EQ(std::count(inputs.begin(), inputs.end(), "head"), 1);
  EXPECT_EQ(count(operators(grads[0]), "ones_like"), 0);
}

TEST(Gradient, TermsUpToTheCapAreSummedByOneOperator) {
  const Symbol x = var("x");
  GradientOptions options;
  options.inplace_sum_cap = 4;
  const auto few = operators(gradients(sum_of(x, 4), {x}, options)[0]);
  EXPECT_EQ(count(few, "add_n"), 1);
  EXPECT_EQ(count(few, "elemwise_add"), 3);  // those of the forward part, which ones_like reads
  const auto many = operators(gradients(sum_of(x, 5), {x}, options)[0]);
  EXPECT_EQ(count(many, "add_n"), 0);
  EXPECT_EQ(count(many, "elemwise_add"), 4 + 4);
}

TEST(Gradient, NewNodesAreCalledAfterTheNodeTheyDifferentiate) {
  const Symbol x = var("x");
  const auto grads = gradients(call("exp", "e", {x}), {x});
  EXPECT_EQ(grads[0].node->name, "e_backward");
}

TEST(Gradient, HasTheTypeOfItsVariable) {
  const Symbol x = var("x");
  const Symbol net = call("FullyConnected", "fc", {sum_of(x, 3)}, {{"num_hidden", "3"}});
  const std::vector<Symbol> inputs = net.input_symbols();
  const auto grads = gradients(net, inputs);
  ir::Graph all;
  for (const Symbol& input : inputs) all.outputs.push_back(input.outputs()[0]);
  all.outputs.insert(all.outputs.end(), grads.begin(), grads.end());
  const IndexedGraph graph(all);
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  types[static_cast<std::size_t>(graph.entry(x.outputs()[0]))] = {{2, 4}, DType::kFloat32};
  EXPECT_TRUE(infer_graph(graph, &types));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto at = [&](std::size_t o) {
      return types[static_cast<std::size_t>(graph.outputs()[o])];
    };
    EXPECT_EQ(at(i).shape, at(i + inputs.size()).shape) << i;
  }
}

// What brings gradients to shapes and types that they have, and what only integers need, is left
// out where types are known.
TEST(Gradient, OfKnownTypesHasTheStepsThatTheyNeed) {
  const Symbol a = var("a"), b = var("b");
  const Symbol power = call("broadcast_power", "p", {a, b});
  const IndexedGraph graph(power.graph());
  const auto names_of = [&](DType dtype, const Shape& shape) {
    std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
    for (int n : graph.variables())
      types[static_cast<std::size_t>(graph.first_entry(n))] = {
          graph.node(n).name == "a" ? Shape{2, 3} : shape, dtype};
    EXPECT_TRUE(infer_graph(graph, &types));
    GradientOptions options;
    options.types = types;
    return operators(gradients(power, {b}, options)[0]);
  };
  const auto open = operators(gradients(power, {b})[0]);
  EXPECT_EQ(count(open, "_cast_like"), 1);
  EXPECT_EQ(count(open, "_sum_to_like"), 1);
  const auto floats = names_of(DType::kFloat32, {2, 3});
  EXPECT_EQ(count(floats, "_cast_like"), 0);
  EXPECT_EQ(count(floats, "_mul_scalar"), 0);
  EXPECT_EQ(count(floats, "_sum_to_like"), 0);
  EXPECT_EQ(count(names_of(DType::kFloat32, {1, 3}), "_sum_to_like"), 1);
  EXPECT_EQ(count(names_of(DType::kInt32, {2, 3}), "_cast_like"), 1);
}

TEST(Gradient, AnOperatorWithoutOneIsNamed) {
  const Symbol x = var("x");
  const Symbol net = call("_shuffle", "mix", {x});
  if (net.node()->op->has_gradient()) GTEST_SKIP() << "_shuffle has a gradient now";
  const std::string message = message_of([&] { gradients(net, {x}); });
  EXPECT_NE(message.find("mix(_shuffle)"), message.npos) << message;
}

TEST(Gradient, OfALongChainNeedsNoStack) {
  const Symbol x = var("x");
  Symbol chain = x;
  for (int i = 0; i < 20'000; ++i) chain = call("negative", "n", {chain});
  EXPECT_TRUE(gradients(chain, {x})[0]);
}

}  // namespace
}  // namespace mxnet::graph_test
