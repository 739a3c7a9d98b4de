// SPDX-License-Identifier: Apache-2.0
// Passes: what they leave out, what they must not touch, and that configuration rules them.
#include "graph/passes.h"

#include <gtest/gtest.h>

#include <random>

#include "dumps.h"
#include "graph/casts.h"
#include "graph/cse.h"
#include "graph/infer.h"
#include "graph/load.h"
#include "graph/partition.h"
#include "graph/quantize.h"
#include "graph/quantize_fuse.h"
#include "graph/reduce_precision.h"
#include "op/op_def.h"
#include "setting.h"
#include "symbols.h"

namespace mxnet::graph_test {
namespace {

using Names = std::vector<std::string>;

int operators(const ir::Graph& graph) {
  int count = 0;
  for (const ir::Node* node : ir::topological_order(graph.outputs)) count += !node->is_variable();
  return count;
}

Symbol group(std::initializer_list<Symbol> symbols) {
  std::vector<const Symbol*> list;
  for (const Symbol& symbol : symbols) list.push_back(&symbol);
  return Symbol::group(list);
}

Symbol cast(const Symbol& x, const char* name, const char* dtype) {
  return call("Cast", name, {x}, {{"dtype", dtype}});
}

TEST(CommonExpressions, EqualCallsAreOne) {
  const Symbol x = var("x");
  const Symbol twice = call("elemwise_add", "s", {call("exp", "a", {x}), call("exp", "b", {x})});
  EXPECT_EQ(operators(eliminate_common_expressions(twice.graph())), 2);
}

TEST(CommonExpressions, EqualityTravelsAlongChains) {
  const Symbol x = var("x");
  const auto chain = [&](std::string n) {
    return call("sin", n + "s", {call("exp", n + "e", {x})});
  };
  const ir::Graph graph = eliminate_common_expressions(group({chain("a"), chain("b")}).graph());
  EXPECT_EQ(operators(graph), 2);
  EXPECT_EQ(graph.outputs[0], graph.outputs[1]);
}

TEST(CommonExpressions, OtherParametersInputsOrAttributesAreOtherCalls) {
  const Symbol x = var("x"), y = var("y");
  const Symbol all = group({call("_plus_scalar", "a", {x}, {{"scalar", "1"}}),
                            call("_plus_scalar", "b", {x}, {{"scalar", "2"}}),
                            call("_plus_scalar", "c", {y}, {{"scalar", "1"}}),
                            call("_plus_scalar", "d", {x}, {{"scalar", "1"}, {"__g__", "1"}})});
  EXPECT_EQ(operators(eliminate_common_expressions(all.graph())), 4);
}

TEST(CommonExpressions, RandomNumbersAreDrawnForEachCall) {
  const Symbol x = var("x");
  const Symbol two = group({call("_shuffle", "a", {x}), call("_shuffle", "b", {x})});
  const ir::Node& shuffle = *two.outputs()[0].node;
  ASSERT_TRUE(shuffle.op->uses_random(shuffle.params.get(), /*training=*/false));
  EXPECT_EQ(operators(eliminate_common_expressions(two.graph())), 2);
}

TEST(CommonExpressions, WhatReadsOrWritesAStateStays) {
  const Symbol x = var("x"), m = var("m");
  const auto norm = [&](std::string name) {
    return call_by_name("_test_norm", std::move(name), {{"data", x}, {"moving_mean", m}});
  };
  const Symbol all = group({norm("a"), call("exp", "b", {m}), norm("c"), call("exp", "d", {m})});
  EXPECT_EQ(operators(eliminate_common_expressions(all.graph())), 4);
}

TEST(Copies, AreLeftOut) {
  const Symbol x = var("x");
  const Symbol net = call("exp", "e", {call("_copy", "c", {call("sin", "s", {x})})});
  EXPECT_EQ(operators(eliminate_copies(net.graph())), 2);
}

TEST(Copies, ThatAreResultsStay) {
  const Symbol copy = call("_copy", "c", {var("x")});
  EXPECT_EQ(operators(eliminate_copies(copy.graph())), 1);
}

// x is (2, 3), like y, and z (3, 2).
int left_without_reshapes(const Symbol& net) {
  const IndexedGraph graph(net.graph());
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const ir::Node& node = graph.node(n);
    if (node.is_variable())
      types[static_cast<std::size_t>(graph.first_entry(n))] = {
          node.name == "z" ? Shape{3, 2} : Shape{2, 3}, DType::kFloat32};
  }
  EXPECT_TRUE(infer_graph(graph, &types));
  return operators(eliminate_reshapes(graph, types));
}

TEST(Reshapes, ToTheSameShapeAreLeftOut) {
  const Symbol x = var("x"), y = var("y"), z = var("z");
  EXPECT_EQ(left_without_reshapes(call("exp", "e", {call("reshape_like", "r", {x, y})})), 1);
  EXPECT_EQ(left_without_reshapes(call("exp", "e", {call("reshape_like", "r", {x, z})})), 2);
  const Symbol flat = call("Flatten", "f", {call("_npx_reshape", "n", {x}, {{"newshape", "-4"}})});
  EXPECT_EQ(left_without_reshapes(call("exp", "e", {flat})), 1);
  // Two that change it, though they end where they began.
  const Symbol there = call("Reshape", "t", {x}, {{"shape", "(3, 2)"}});
  const Symbol back = call("Reshape", "b", {there}, {{"shape", "(2, 3)"}});
  EXPECT_EQ(left_without_reshapes(call("exp", "e", {back})), 3);
}

TEST(Reshapes, ThatAreResultsStay) {
  EXPECT_EQ(left_without_reshapes(call("reshape_like", "r", {var("x"), var("y")})), 1);
}

TEST(Copies, OfWhatIsWrittenStay) {
  const Symbol x = var("x"), m = var("m");
  const Symbol norm = call_by_name("_test_norm", "n", {{"data", x}, {"moving_mean", m}});
  const Symbol all = group({norm, call("exp", "e", {call("_copy", "c", {m})})});
  EXPECT_EQ(operators(eliminate_copies(all.graph())), 3);
}

TEST(Casts, AWiderTypeAndBackIsNothing) {
  const Symbol net = call("exp", "e", {cast(cast(var("x"), "a", "float32"), "b", "float16")});
  const KnownTypes known{{"x"}, {{{2}, DType::kFloat16}}};
  PassOptions options;
  EXPECT_EQ(operators(run_passes(net.graph(), known, options)), 1);
}

TEST(Casts, ANarrowerTypeLosesValuesAndStays) {
  const PassOptions options;
  const auto left = [&](DType from, const char* through, const char* back) {
    const Symbol net = call("exp", "e", {cast(cast(var("x"), "a", through), "b", back)});
    return operators(run_passes(net.graph(), {{"x"}, {{{2}, from}}}, options));
  };
  EXPECT_EQ(left(DType::kFloat32, "float16", "float32"), 3);
  EXPECT_EQ(left(DType::kInt32, "float32", "int32"), 3);
  EXPECT_EQ(left(DType::kInt32, "float64", "int32"), 1);
  EXPECT_EQ(left(DType::kUInt8, "int8", "uint8"), 3);
  EXPECT_EQ(left(DType::kFloat16, "float32", "float64"), 3);
}

TEST(Casts, OfMixedPrecisionAreRemoved) {
  const Symbol x = var("x");
  const Symbol low = call("amp_cast", "c", {x}, {{"dtype", "float16"}});
  const Symbol both = call("amp_multicast", "m", {low, var("y")}, {{"num_outputs", "2"}});
  const Symbol sum = call("broadcast_add", "s", {both.output(0), both.output(1)});
  const Symbol plain(remove_amp_casts(sum.graph()));
  EXPECT_EQ(plain.children().list_outputs(), (Names{"x", "y"}));
  EXPECT_EQ(sum.children().list_outputs(), (Names{"m_output0", "m_output1"}));
}

TEST(Casts, OfMixedPrecisionStayWhereTheyAreResults) {
  const Symbol low = call("amp_cast", "c", {var("x")}, {{"dtype", "float16"}});
  const Symbol back = call("amp_cast", "b", {call("exp", "e", {low})}, {{"dtype", "float32"}});
  const Symbol plain(remove_amp_casts(back.graph()));
  EXPECT_EQ(plain.list_outputs(), Names{"b_output"});
  EXPECT_EQ(plain.children().children().list_outputs(), Names{"x"});
}

TEST(Partition, ConnectedOperatorsBecomeOneNode) {
  const Symbol net = call("sin", "s", {call("exp", "e", {var("a")})});
  const Symbol parts(partition(net.graph(), *select_operators({"exp", "sin"})));
  EXPECT_EQ(operators(parts.graph()), 1);
  EXPECT_EQ(parts.list_outputs(), Names{"_CachedOp0_s_output"});
  EXPECT_EQ(save_symbol(load_symbol(save_symbol(parts))), save_symbol(parts));
}

TEST(Partition, ADetourThroughOthersSplitsAPart) {
  const Symbol e = call("exp", "e", {var("a")});
  const Symbol net = call("elemwise_add", "s", {e, call("cos", "c", {e})});
  const Symbol parts(partition(net.graph(), *select_operators({"exp", "elemwise_add"})));
  EXPECT_EQ(operators(parts.graph()), 3);  // one part would depend on itself
}

TEST(Partition, UnknownOperatorsAreErrors) {
  const std::string message = message_of([] { select_operators({"nosuch"}); });
  EXPECT_NE(message.find("nosuch"), message.npos) << message;
}

// Random networks: no cycle, nothing lost, and taking the parts out again gives the network back.
TEST(Partition, PartsOfRandomNetworksCanBePutBack) {
  constexpr unsigned kSeed = 11;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const char* const ops[] = {"elemwise_add", "elemwise_mul", "elemwise_sub"};
  for (int round = 0; round < 100; ++round) {
    std::vector<Symbol> values{call("elemwise_add", "n", {var("x"), var("y")})};
    for (int i = 0; i < 30; ++i) {
      const Symbol a = values[random() % values.size()], b = values[random() % values.size()];
      values.push_back(call(ops[random() % 3], "n" + std::to_string(i), {a, b}));
    }
    const Symbol net = group({values.back(), values[20], values[10]});
    const Symbol parts(partition(net.graph(), *select_operators({ops[0], ops[1]})));
    EXPECT_EQ(load_symbol(save_symbol(parts)).list_outputs(), parts.list_outputs());
    EXPECT_EQ(save_symbol(Symbol(inline_parts(parts.graph()))).size(), save_symbol(net).size());
    EXPECT_EQ(operators(inline_parts(parts.graph())), operators(net.graph()));
    const auto types = infer_symbol(parts, {{"x"}, {{{3}, DType::kFloat32}}}, true);
    EXPECT_EQ(types.outputs[2].shape, Shape{3});
  }
}

TEST(PartitionConfig, VerbosityTellsWhatAPartHolds) {
  const Symbol net = call("exp", "e", {call("sin", "s", {var("x")})});
  const auto logged = [&](const char* level) {
    const Setting verbosity("MXNET_SUBGRAPH_VERBOSE", level);
    testing::internal::CaptureStderr();
    partition(net.graph(), *select_operators({"sin"}));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(logged("0"), "");
  EXPECT_NE(logged("1").find("1 of 3 nodes in 1 parts"), std::string::npos) << logged("1");
  EXPECT_EQ(logged("1").find("s(sin)"), std::string::npos);
  EXPECT_NE(logged("2").find("s(sin)"), std::string::npos) << logged("2");
}

int left_after_passes(const Symbol& net) {
  return operators(run_passes(net.graph(), {{"x"}, {{{2}, DType::kFloat16}}}, configured_passes()));
}

TEST(Passes, CommonExpressionsFollowTheConfiguration) {
  const Symbol x = var("x");
  const Symbol net = group({call("exp", "a", {x}), call("exp", "b", {x})});
  EXPECT_EQ(left_after_passes(net), 1);
  const Setting off("MXNET_ELIMINATE_COMMON_EXPR", "0");
  EXPECT_EQ(left_after_passes(net), 2);
}

TEST(Passes, NodeEliminationFollowsTheConfiguration) {
  const Symbol net = call("exp", "e", {call("_copy", "c", {call("sin", "s", {var("x")})})});
  EXPECT_EQ(left_after_passes(net), 2);
  const Setting off("MXNET_NODE_ELIMINATION", "0");
  EXPECT_EQ(left_after_passes(net), 3);
}

TEST(Passes, CastPairsFollowTheConfiguration) {
  const Symbol net = call("exp", "e", {cast(cast(var("x"), "a", "float32"), "b", "float16")});
  EXPECT_EQ(left_after_passes(net), 1);
  const Setting keep("MXNET_DISABLE_REMOVE_CASTS_PROPERTY", "1");
  EXPECT_EQ(left_after_passes(net), 3);
}

TEST(Passes, CastsToTheTypeThatValuesHaveAreNothing) {
  const Symbol inner = call("exp", "e", {cast(var("x"), "a", "float16")});
  EXPECT_EQ(left_after_passes(call("sin", "s", {cast(inner, "b", "float16")})), 2);
  const Symbol both =
      call("amp_multicast", "m", {inner, call("cos", "c", {inner})}, {{"num_outputs", "2"}});
  EXPECT_EQ(left_after_passes(call("elemwise_add", "t", {both.output(0), both.output(1)})), 3);
  // A result is an array of its own.
  EXPECT_EQ(left_after_passes(cast(inner, "b", "float16")), 2);
}

TEST(Passes, SumCapFollowsTheConfiguration) {
  EXPECT_EQ(configured_gradient().inplace_sum_cap, 8);
  const Setting cap("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "2");
  const Symbol x = var("x");
  const Symbol three = call("elemwise_add", "t", {call("elemwise_add", "s", {x, x}), x});
  const ir::Entry wrt[] = {x.outputs()[0]};
  const auto grads = gradient(three.graph(), std::vector<ir::Entry>(1), wrt, configured_gradient());
  for (const ir::Node* node : ir::topological_order(grads))
    if (!node->is_variable()) {
      EXPECT_NE(node->op->name(), "add_n");
    }
}

TEST(Passes, DumpsShowEachPassBeforeAndAfter) {
  const Dumps dumps;
  left_after_passes(call("exp", "shown", {var("x")}));
  const auto shown = dumps.shown();
  EXPECT_EQ(shown.size(), 6u);
  for (const auto& [name, text] : shown) EXPECT_NE(text.find("Name=shown"), text.npos) << name;
}

TEST(Passes, WhatUsersAskForIsShownToo) {
  const Dumps dumps;
  const Symbol net = call("FullyConnected", "fc", {var("x")}, {{"num_hidden", "2"}});
  partition(net.graph(), *select_operators({"FullyConnected"}));
  PrecisionOptions low;
  low.target_ops = {"FullyConnected"};
  const Symbol reduced = reduce_precision(net, low);
  remove_amp_casts(reduced.graph());
  const ir::Graph fused = fuse_for_quantization(net.graph());
  with_ranges(quantize_graph(fused, {}).graph, {});
  auto shown = dumps.shown();
  for (const char* pass : {"partition", "reduce_precision", "remove_amp_casts",
                           "fuse_for_quantization", "quantize", "calibrate"}) {
    EXPECT_TRUE(shown.contains(std::string(pass) + "_before")) << pass;
    EXPECT_TRUE(shown.contains(std::string(pass) + "_after")) << pass;
  }
  const auto has = [&](const char* name, const char* part) {
    return shown[name].find(part) != std::string::npos;
  };
  EXPECT_FALSE(has("partition_before", "_CachedOp"));
  EXPECT_TRUE(has("partition_after", "_CachedOp"));
  EXPECT_FALSE(has("reduce_precision_before", "amp_cast"));
  EXPECT_TRUE(has("reduce_precision_after", "amp_cast"));
  EXPECT_NE(shown["remove_amp_casts_before"], shown["remove_amp_casts_after"]);
  EXPECT_TRUE(has("quantize_after", "_contrib_quantize"));
}

TEST(Passes, InferenceShowsWhatIsKnownBeforeAndAfter) {
  const Dumps dumps;
  const IndexedGraph graph(call("exp", "e", {var("x")}).graph());
  std::vector<ArrayType> types{{{2, 3}, DType::kFloat16}, {}};
  EXPECT_TRUE(run_inference(graph, &types, configured_passes()));
  auto shown = dumps.shown();
  EXPECT_EQ(shown["infer_before"], "x(variable): float16 (2,3)\ne(exp): unknown None\n");
  EXPECT_EQ(shown["infer_after"], "x(variable): float16 (2,3)\ne(exp): float16 (2,3)\n");
}

TEST(Passes, LongChainsNeedNoStack) {
  Symbol chain = var("x");
  for (int i = 0; i < 100'000; ++i) chain = call("exp", "e", {chain});
  EXPECT_EQ(left_after_passes(chain), 100'000);
  EXPECT_EQ(operators(partition(chain.graph(), *select_operators({"exp"}))), 1);
}

}  // namespace
}  // namespace mxnet::graph_test
