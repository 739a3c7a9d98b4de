// SPDX-License-Identifier: Apache-2.0
// Casts of mixed precision: where they are, compared with graphs that the release 1.9.1 gave for
// the same networks and lists.
#include "graph/reduce_precision.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "op/op_def.h"
#include "symbols.h"

namespace mxnet::graph_test {
namespace {

PrecisionOptions lists() {
  PrecisionOptions options;
  options.target_ops = {"Convolution", "FullyConnected"};
  options.fp32_ops = {"softmax", "exp"};
  options.widest_ops = {"elemwise_add", "broadcast_add", "dot", "Concat"};
  options.conditional_fp32_ops = {{"Activation", "act_type", {"softrelu"}}};
  return options;
}

Symbol dense(const Symbol& x, std::string name) {
  return call("FullyConnected", std::move(name), {x}, {{"num_hidden", "3"}});
}
Symbol exp_of(const Symbol& x, std::string name = "e") { return call("exp", std::move(name), {x}); }

// "16", "32" or "any" for each cast on the way to input `i` of the node called `name`, else "-".
std::string cast_before(const Symbol& symbol, const std::string& name, std::size_t i = 0) {
  for (const ir::Node* node : ir::topological_order(symbol.outputs())) {
    if (node->name != name) continue;
    const ir::Node& input = *node->inputs.at(i).node;
    if (input.is_variable()) return "-";
    if (input.op->name() == "amp_multicast") return "any";
    if (input.op->name() != "amp_cast") return "-";
    return input.attrs[0].second == "float32" ? "32" : "16";
  }
  return "no node " + name;
}
bool result_is_cast(const Symbol& symbol) {
  return symbol.outputs()[0].node->op->name() == "amp_cast";
}

TEST(ReducePrecision, OperatorsOfTheTargetTypeReadIt) {
  const Symbol made = reduce_precision(dense(var("x"), "fc"), lists());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(cast_before(made, "fc", i), "16");
  EXPECT_TRUE(result_is_cast(made));
}

TEST(ReducePrecision, OthersPassOnWhatTheyRead) {
  const Symbol chain = dense(call("sin", "s", {dense(var("x"), "a")}), "b");
  const Symbol made = reduce_precision(chain, lists());
  EXPECT_EQ(cast_before(made, "s"), "-");
  EXPECT_EQ(cast_before(made, "b"), "-");
  const Symbol full = reduce_precision(dense(call("sin", "s", {exp_of(var("x"))}), "b"), lists());
  EXPECT_EQ(cast_before(full, "s"), "-");
  EXPECT_EQ(cast_before(full, "b"), "16");
}

TEST(ReducePrecision, OperatorsOfFloat32ReadThat) {
  const Symbol made = reduce_precision(exp_of(dense(var("x"), "fc")), lists());
  EXPECT_EQ(cast_before(made, "e"), "32");
  EXPECT_FALSE(result_is_cast(made));
  EXPECT_EQ(cast_before(reduce_precision(exp_of(var("x")), lists()), "e"), "-");
}

TEST(ReducePrecision, ConditionsLookAtParameters) {
  const auto made = [](const char* type) {
    return reduce_precision(call("Activation", "r", {dense(var("x"), "fc")}, {{"act_type", type}}),
                            lists());
  };
  EXPECT_EQ(cast_before(made("softrelu"), "r"), "32");
  EXPECT_EQ(cast_before(made("relu"), "r"), "-");
}

TEST(ReducePrecision, ExcludedNodesStayInFloat32) {
  PrecisionOptions options = lists();
  options.excluded = {"b"};
  const Symbol made = reduce_precision(dense(dense(var("x"), "a"), "b"), options);
  EXPECT_EQ(cast_before(made, "a"), "16");
  EXPECT_EQ(cast_before(made, "b"), "32");
  EXPECT_FALSE(result_is_cast(made));
}

TEST(ReducePrecision, TheWidestTypeIsTakenWhereItIsKnown) {
  const Symbol half = dense(var("x"), "fc"), full = exp_of(var("z"));
  const auto made = [](const Symbol& a, const Symbol& b) {
    return reduce_precision(call("elemwise_add", "s", {a, b}), lists());
  };
  EXPECT_EQ(cast_before(made(half, full), "s", 0), "32");
  EXPECT_EQ(cast_before(made(half, full), "s", 1), "-");
  EXPECT_EQ(cast_before(made(half, dense(var("y"), "fd")), "s", 0), "-");
  EXPECT_EQ(cast_before(made(half, var("u")), "s", 0), "any");
  EXPECT_EQ(cast_before(made(var("u"), var("v")), "s", 1), "any");
}

TEST(ReducePrecision, ACastIsMadeOnceForAllWhoReadIt) {
  const Symbol x = var("x");
  const Symbol a = dense(x, "a"), b = dense(x, "b");
  const Symbol* both[] = {&a, &b};
  const Symbol made = reduce_precision(Symbol::group(both), lists());
  int casts = 0;
  for (const ir::Node* node : ir::topological_order(made.outputs()))
    casts += node->name == "x_amp_cast_float16";
  EXPECT_EQ(casts, 1);
}

TEST(ReducePrecision, ParametersThatOnlyTheTargetReadsCanBeStoredInIt) {
  PrecisionOptions options = lists();
  options.parameters = {"w", "a_bias", "b_bias", "shared"};
  options.cast_parameters = true;
  const Symbol shared = var("shared");
  const Symbol a = call("FullyConnected", "a", {var("x"), var("w")}, {{"num_hidden", "3"}});
  const Symbol b = call("FullyConnected", "b", {a, shared}, {{"num_hidden", "3"}});
  const Symbol c = call("sin", "c", {shared});
  const Symbol* both[] = {&b, &c};
  const Symbol network = Symbol::group(both);
  const Symbol made = reduce_precision(network, options);
  EXPECT_EQ(cast_before(made, "a", 0), "16");
  EXPECT_EQ(cast_before(made, "a", 1), "-");
  EXPECT_EQ(cast_before(made, "b", 1), "16");  // sin reads it too
  std::map<std::string, std::string> types;
  for (const ir::Node* node : ir::topological_order(made.outputs()))
    for (const auto& [key, value] : node->attrs)
      if (key == "__dtype__") types[node->name] = value;
  EXPECT_EQ(types, (std::map<std::string, std::string>{
                       {"w", "2"}, {"a_bias", "2"}, {"b_bias", "2"}, {"shared", "0"}}));
  for (const ir::Node* node : ir::topological_order(network.outputs()))
    for (const auto& [key, value] : node->attrs) EXPECT_NE(key, "__dtype__") << node->name;
}

TEST(ReducePrecision, StatesKeepTheirType) {
  const Symbol norm = call("BatchNorm", "bn", {dense(var("x"), "fc")});
  PrecisionOptions options = lists();
  options.fp32_ops.insert("BatchNorm");
  const Symbol made = reduce_precision(norm, options);
  EXPECT_EQ(cast_before(made, "bn", 0), "32");
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(cast_before(made, "bn", i), "-");
  EXPECT_EQ(made.list_inputs(Symbol::Inputs::kAuxiliary),
            norm.list_inputs(Symbol::Inputs::kAuxiliary));
}

TEST(ReducePrecision, WhatIsRefusedSaysWhatIsExpected) {
  PrecisionOptions options = lists();
  options.target = DType::kInt8;
  EXPECT_NE(message_of([&] { reduce_precision(var("x"), options); }).find("bfloat16"),
            std::string::npos);
  options = lists();
  options.fp32_ops.insert("Convolution");
  EXPECT_NE(message_of([&] { reduce_precision(var("x"), options); }).find("Convolution"),
            std::string::npos);
}

}  // namespace
}  // namespace mxnet::graph_test
