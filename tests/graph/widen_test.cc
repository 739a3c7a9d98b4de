// SPDX-License-Identifier: Apache-2.0
// Layers of half types between conversions: where those are, and what stays as it is.
#include "graph/widen.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/draw_order.h"
#include "graph/infer_symbol.h"
#include "op/op_def.h"
#include "symbols.h"

namespace mxnet::graph_test {
namespace {

constexpr auto kHalf = DType::kFloat16;
bool is_float16(DType dtype) { return dtype == kHalf; }

Symbol dense(const Symbol& x, const std::string& name) {
  return call("FullyConnected", name, {x, var(name + "_weight")},
              {{"num_hidden", "4"}, {"no_bias", "True"}});
}

// The network after the pass; x, which has a row of 4 numbers, is of this type.
Symbol widened(const Symbol& network, DType x = kHalf, bool training = false) {
  const IndexedGraph graph(network.graph());
  const std::vector<ArrayType> types =
      infer_entries(graph, {.names = {"x"}, .types = {{{1, 4}, x}}}, true);
  Symbol result(widen_half_types(graph, types, training, is_float16));
  const IndexedGraph after(result.graph());
  const std::vector<ArrayType> now =
      infer_entries(after, {.names = {"x"}, .types = {{{1, 4}, x}}}, true);
  for (std::size_t o = 0; o < graph.outputs().size(); ++o)
    EXPECT_EQ(now[static_cast<std::size_t>(after.outputs()[o])].dtype,
              types[static_cast<std::size_t>(graph.outputs()[o])].dtype);
  return result;
}

// Operators in order, by one letter and the type for a conversion: "16", "32".
std::string text_of(const Symbol& symbol) {
  std::string text;
  for (const ir::Node* node : ir::topological_order(symbol.outputs())) {
    if (node->is_variable()) continue;
    if (!text.empty()) text += ' ';
    if (node->op->name() == "Cast") {
      text += node->attrs[0].second.substr(5);
    } else {
      text += node->name;
    }
  }
  return text;
}

TEST(WidenHalfTypes, TheTableNamesOperatorsByTheirOwnNames) {
  for (const auto names : {widened_layers(), widened_between()}) {
    EXPECT_TRUE(std::ranges::is_sorted(names, {}, [](auto name) { return std::string(name); }));
    for (const char* name : names) EXPECT_EQ(Registry::get().at(name).name(), name);
  }
}

TEST(WidenHalfTypes, ConversionsAreAtTheEndsOnly) {
  const Symbol network = dense(call("relu", "r", {dense(var("x"), "a")}), "b");
  EXPECT_EQ(text_of(widened(network)), "32 32 a r 32 b 16");
}

TEST(WidenHalfTypes, WhatIsReadTwiceIsConvertedOnce) {
  const Symbol a = dense(var("x"), "a");
  const Symbol both = call("elemwise_add", "sum", {a, call("tanh", "t", {a})});
  EXPECT_EQ(text_of(widened(both)), "32 32 a t sum 16");
}

TEST(WidenHalfTypes, OtherTypesAndNetworksWithoutLayersStayAsTheyAre) {
  const Symbol network = dense(var("x"), "a");
  EXPECT_EQ(text_of(widened(network, DType::kFloat32)), "a");
  EXPECT_EQ(text_of(widened(network, DType::kBFloat16)), "a");
  EXPECT_EQ(text_of(widened(call("relu", "r", {call("exp", "e", {var("x")})}))), "e r");
}

TEST(WidenHalfTypes, WhatJumpsSeesRoundedNumbers) {
  const Symbol network = dense(call("floor", "f", {dense(var("x"), "a")}), "b");
  EXPECT_EQ(text_of(widened(network)), "32 32 a 16 f 32 32 b 16");
}

TEST(WidenHalfTypes, WhatDrawsNumbersDrawsThoseOfItsType) {
  const Symbol network =
      dense(call("Dropout", "d", {dense(var("x"), "a")}, {{"mode", "training"}}), "b");
  EXPECT_EQ(text_of(widened(network, kHalf, /*training=*/true)), "32 32 a 16 d 32 32 b 16");
  EXPECT_EQ(text_of(widened(network, kHalf, /*training=*/false)), "32 32 a d 32 b 16");
}

TEST(WidenHalfTypes, TurnsAtRandomNumbersAreKept) {
  const Symbol network =
      dense(call("Dropout", "d", {call("Dropout", "c", {dense(var("x"), "a")})}), "b");
  const Symbol in_turn(with_draws_in_turn(IndexedGraph(network.graph()), true));
  const Symbol after = widened(in_turn, kHalf, true);
  EXPECT_EQ(text_of(after), text_of(widened(network, kHalf, true)));
  const auto nodes = ir::topological_order(after.outputs());
  const auto d = std::ranges::find(nodes, "d", &ir::Node::name);
  ASSERT_NE(d, nodes.end());
  ASSERT_EQ((*d)->control_deps().size(), 1u);
  EXPECT_EQ((*d)->control_deps()[0]->name, "c");
}

TEST(WidenHalfTypes, ACastRoundsAndAmpCastDoesNot) {
  const auto network = [](const char* op) {
    const Symbol x = call(op, "c", {var("x")}, {{"dtype", "float16"}});
    return dense(x, "a");
  };
  EXPECT_EQ(text_of(widened(network("amp_cast"), DType::kFloat32)), "32 a 16");
  EXPECT_EQ(text_of(widened(network("Cast"), DType::kFloat32)), "16 32 32 a 16");
}

TEST(WidenHalfTypes, ConversionsBetweenLayersAreLeftOut) {
  const auto cast = [](const Symbol& x, const char* name, const char* type) {
    return call("amp_cast", name, {x}, {{"dtype", type}});
  };
  const Symbol a = dense(cast(var("x"), "to16", "float16"), "a");
  const Symbol b =
      dense(cast(call("exp", "e", {cast(a, "to32", "float32")}), "back", "float16"), "b");
  EXPECT_EQ(text_of(widened(cast(b, "result", "float32"), DType::kFloat32)), "32 a e 32 b");
}

TEST(WidenHalfTypes, AResultIsNeverAVariable) {
  const Symbol narrow = call("amp_cast", "n", {var("x")}, {{"dtype", "float16"}});
  const Symbol wide = call("amp_cast", "w", {narrow}, {{"dtype", "float32"}});
  EXPECT_EQ(text_of(widened(wide, DType::kFloat32)), "n w");
}

}  // namespace
}  // namespace mxnet::graph_test
