// SPDX-License-Identifier: Apache-2.0
// Inference over whole graphs, by name.
#include "graph/infer.h"

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "graph/infer_symbol.h"
#include "graph/symbol_attributes.h"
#include "op/op_builder.h"
#include "op/op_def.h"
#include "symbols.h"

namespace mxnet::graph_test {
namespace {

constexpr DType kFloat = DType::kFloat32;

Symbol dense(const Symbol& data, std::string name, const char* width = "3") {
  return call("FullyConnected", std::move(name), {data}, {{"num_hidden", width}});
}

SymbolTypes infer(const Symbol& symbol, std::string_view name, ArrayType type, bool numpy = false) {
  return infer_symbol(symbol, {{name}, {std::move(type)}}, numpy);
}

TEST(InferSymbol, ParametersFollowFromData) {
  const SymbolTypes types = infer(dense(var("x"), "fc"), "x", {{2, 4}, kFloat});
  EXPECT_TRUE(types.shapes_complete);
  EXPECT_TRUE(types.dtypes_complete);
  EXPECT_EQ(types.arguments[1].shape, (Shape{3, 4}));
  EXPECT_EQ(types.arguments[2].shape, (Shape{3}));
  EXPECT_EQ(types.outputs[0].shape, (Shape{2, 3}));
  EXPECT_EQ(types.arguments[1].dtype, kFloat);
}

TEST(InferSymbol, DataFollowsFromWhatIsKnownLater) {
  const Symbol sum = call("elemwise_add", "s", {call("exp", "e", {var("x")}), var("y")});
  const SymbolTypes types = infer(sum, "y", {{2, 3}, DType::kFloat64});
  EXPECT_EQ(types.arguments[0].shape, (Shape{2, 3}));
  EXPECT_EQ(types.arguments[0].dtype, DType::kFloat64);
}

TEST(InferSymbol, ShapesAndTypesAreAskedForSeparately) {
  const SymbolTypes types = infer(dense(var("x"), "fc"), "x", {{2, 4}});
  EXPECT_TRUE(types.shapes_complete);
  EXPECT_FALSE(types.dtypes_complete);
}

TEST(InferSymbol, WhatCannotBeKnownStaysUnknown) {
  const SymbolTypes types = infer_symbol(dense(var("x"), "fc"), {}, false);
  EXPECT_FALSE(types.shapes_complete);
  EXPECT_FALSE(types.arguments[0].shape.rank_known());
}

TEST(InferSymbol, UnknownDimensionsStay) {
  const SymbolTypes types = infer(dense(var("x"), "fc"), "x", {{-1, 4}});
  EXPECT_FALSE(types.shapes_complete);
  EXPECT_EQ(types.arguments[1].shape, (Shape{3, 4}));
  EXPECT_EQ(types.outputs[0].shape, (Shape{-1, 3}));
}

TEST(InferSymbol, AuxiliaryStatesAreAListOfTheirOwn) {
  const SymbolTypes types =
      infer(call("_test_norm", "bn", {var("x")}), "x", {{2, 5, 4, 4}, kFloat});
  ASSERT_EQ(types.auxiliary.size(), 2u);
  EXPECT_EQ(types.auxiliary[0].shape, (Shape{5}));
  EXPECT_EQ(types.arguments.size(), 2u);
}

TEST(InferSymbol, VariablesSayWhatTheyAre) {
  Symbol x = var("x");
  set_attrs(&x, {{"__shape__", "(2, 0)"}, {"__dtype__", "1"}});
  const Symbol e = call("exp", "e", {x});
  const SymbolTypes legacy = infer_symbol(e, {}, false);
  EXPECT_EQ(legacy.outputs[0].shape, (Shape{2, -1}));
  EXPECT_EQ(legacy.outputs[0].dtype, DType::kFloat64);
  EXPECT_EQ(infer_symbol(e, {}, true).outputs[0].shape, (Shape{2, 0}));
}

TEST(InferSymbol, CallersKnowBetterThanVariables) {
  Symbol x = var("x");
  set_attrs(&x, {{"__shape__", "(2, 3)"}});
  EXPECT_EQ(infer(call("exp", "e", {x}), "x", {{5}}).outputs[0].shape, (Shape{5}));
}

TEST(InferSymbol, AShapeWithUnknownDimensionsGivesWayToTheVariablesOwn) {
  Symbol x = var("x");
  set_attrs(&x, {{"__shape__", "(2, 3)"}});
  const Symbol e = call("exp", "e", {x});
  for (const Shape& given : {Shape{-1, 3}, Shape{5, -1}, Shape{-1, 3, 2}})
    EXPECT_EQ(infer(e, "x", {given}).outputs[0].shape, (Shape{2, 3}));
  EXPECT_EQ(infer(call("exp", "e", {var("y")}), "y", {{-1, 3}}).outputs[0].shape, (Shape{-1, 3}));
}

TEST(InferSymbol, AttributesThatMakeNoSenseNameTheVariable) {
  Symbol x = var("x");
  set_attrs(&x, {{"__dtype__", "99"}});
  const std::string message = message_of([&] { infer_symbol(call("exp", "e", {x}), {}, false); });
  EXPECT_NE(message.find("[x]"), message.npos) << message;
}

TEST(InferSymbol, OneNameMayStandForSeveralVariables) {
  const Symbol sum = call("elemwise_add", "s", {var("a"), var("a")});
  EXPECT_EQ(infer(sum, "a", {{7}}).arguments[1].shape, (Shape{7}));
}

TEST(InferSymbol, UnknownNamesAreErrors) {
  const std::string message = message_of([] { infer(dense(var("x"), "fc"), "nosuch", {{2, 4}}); });
  EXPECT_NE(message.find("x, fc_weight, fc_bias"), message.npos) << message;
}

TEST(InferSymbol, ConflictsShowTheChainThatLedThere) {
  const Symbol net = dense(call("exp", "e", {dense(var("x"), "one")}), "two");
  const std::string message = message_of([&] {
    infer_symbol(net, {{"x", "two_weight"}, {{{2, 4}, kFloat}, {{3, 9}, kFloat}}}, false);
  });
  for (const char* part : {"two(FullyConnected)", "input e (exp): float32 (2,3)", "(3,9)",
                           "further back one (FullyConnected): float32 (2,3)"})
    EXPECT_NE(message.find(part), message.npos) << message;
}

// A rule in which a wait is broken off, as one of a shape that values decide may be.
MX_OP(_test_waits, NoParams)
.input("data", "").infer([](const NoParams&, Infer&) {
  throw Error(ErrorCode::kGeneric, kEngineTag, "given an interrupt, expected the end of a wait");
});

TEST(InferSymbol, AnInterruptIsBlamedOnNoNode) {
  const std::string message =
      message_of([] { infer(call("_test_waits", "w", {var("x")}), "x", {{2}}); });
  EXPECT_EQ(message, "MXNetError: [engine] given an interrupt, expected the end of a wait");
}

TEST(InferSymbol, PartsOfANetworkInANodeAreSeenThrough) {
  const Symbol inner = dense(var("a"), "fc");
  Symbol part = Symbol::atomic(Registry::get().at("_CachedOp"), {});
  auto extras = std::make_shared<ir::NodeExtras>();
  extras->subgraphs.push_back(std::make_shared<const ir::Graph>(inner.graph()));
  ir::Node* node = part.node();
  node->name = "part";
  node->extras = std::move(extras);
  parse_node(node);
  for (const char* name : {"x", "w", "b"}) node->inputs.push_back(var(name).outputs()[0]);
  const SymbolTypes types = infer(part, "x", {{2, 4}, kFloat});
  EXPECT_EQ(types.arguments[1].shape, (Shape{3, 4}));
  EXPECT_EQ(types.outputs[0].shape, (Shape{2, 3}));
}

// What is learnt at the end of a chain must reach its start, for any length in linear time.
TEST(InferGraph, KnowledgeTravelsBackwardsThroughLongChains) {
  Symbol chain = var("x");
  for (int i = 0; i < 50'000; ++i) chain = call("exp", "e", {chain});
  const IndexedGraph graph(call("elemwise_add", "s", {chain, var("y")}).graph());
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  const int y = graph.first_entry(graph.variables()[1]);
  types[static_cast<std::size_t>(y)] = {{3}, kFloat};
  EXPECT_TRUE(infer_graph(graph, &types));
  EXPECT_EQ(types[0].shape, Shape{3});
}

TEST(InferSymbol, AValueThatANodeReadsTwiceIsLearntOnce) {
  const Symbol v = var("v");
  // The shape of the last input says that of the others, and first that of the first alone.
  const Symbol bn = call("BatchNorm", "bn", {var("x"), v, v, var("mean"), var("var")});
  const SymbolTypes types = infer(bn, "var", {{3}, kFloat});
  EXPECT_EQ(types.arguments[1].shape, (Shape{3}));
  EXPECT_EQ(types.auxiliary[0].shape, (Shape{3}));
}

TEST(InferSymbol, AnOperatorWithoutItsInputsIsAnError) {
  const Symbol alone = Symbol::atomic(Registry::get().at("elemwise_add"), {});
  const std::string message = message_of([&] { infer_symbol(alone, {}, false); });
  EXPECT_NE(message.find("given 0 inputs, expected 2"), message.npos) << message;
}

}  // namespace
}  // namespace mxnet::graph_test
