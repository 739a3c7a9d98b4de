// SPDX-License-Identifier: Apache-2.0
// Constants of compiled graphs: what is computed once, what is left to each run, and that nobody
// sees the difference.
#include <gtest/gtest.h>

#include "base/error.h"
#include "exec/cached_op.h"
#include "exec/plan_fixture.h"
#include "graph/dumps.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

Value arange(int stop) {
  return apply("_arange", {}, {{"start", "0"}, {"stop", std::to_string(stop)}});
}
Value zeros(const char* shape) { return apply("_zeros", {}, {{"shape", shape}}); }

struct Result {
  Values values;
  std::string plan;  // as debug_str() shows it
};
Result run(const ir::Graph& graph, const std::vector<NDArray>& args, bool training = false) {
  Executor executor(graph, Device::cpu(), bind_arrays(args));
  executor.forward(training);
  return {values_of(executor.outputs()[0]), executor.debug_str()};
}
bool runs(const Result& result, const char* op) {
  return result.plan.find("(" + std::string(op) + ")") != std::string::npos;
}

TEST(FoldValues, WhatDependsOnNoVariableIsComputedOnce) {
  const Setting apart("MXNET_USE_FUSION", "0");
  const Value table = apply("cos", {arange(4) * 0.5});
  const ir::Graph graph = graph_of({apply("elemwise_add", {variable("x"), table})});
  const std::vector<NDArray> args{array_of({1, 2, 3, 4})};
  const Result result = run(graph, args);
  EXPECT_EQ(result.values, run_eagerly(graph, args, false).outputs[0]);
  EXPECT_FALSE(runs(result, "_arange")) << result.plan;
  EXPECT_FALSE(runs(result, "cos")) << result.plan;
  EXPECT_TRUE(contains(result.plan, "=constant")) << result.plan;
}

TEST(FoldValues, TypesOfVariablesAreKnown) {
  const Value x = variable("x");
  const ir::Graph graph =
      graph_of({apply("elemwise_add", {apply("ones_like", {x}), apply("exp", {x})}),
                apply("shape_array", {x})});
  const std::vector<NDArray> args{array_of({0, 0, 0, 0, 0, 0}, {2, 3})};
  Executor executor(graph, Device::cpu(), bind_arrays(args));
  executor.forward(false);
  EXPECT_EQ(values_of(executor.outputs()[0]), Values(6, 2.0f));
  std::vector<int64_t> shape(2);
  executor.outputs()[1].sync_copy_to(shape.data(), 2);
  EXPECT_EQ(shape, (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(contains(executor.debug_str(), "(ones_like)")) << executor.debug_str();
  EXPECT_FALSE(contains(executor.debug_str(), "(shape_array)")) << executor.debug_str();
}

TEST(FoldValues, LargeValuesAreMadeInEachRun) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  const ir::Graph graph =
      graph_of({apply("broadcast_add", {variable("x"), zeros("(1000, 1000)")})});
  EXPECT_TRUE(runs(run(graph, {array_of({1})}), "_zeros"));
}

TEST(FoldValues, RandomNumbersAreDrawnInEachRun) {
  const Value noise = apply("_random_uniform", {}, {{"shape", "(8,)"}});
  const ir::Graph graph = graph_of({apply("elemwise_add", {variable("x"), noise})});
  Executor executor(graph, Device::cpu(), bind_arrays({array_of(Values(8, 0.0f))}));
  executor.forward(false);
  const Values first = values_of(executor.outputs()[0]);
  executor.forward(false);
  EXPECT_NE(values_of(executor.outputs()[0]), first);
}

// The moving statistics are made by the graph, and the backward part writes them.
TEST(FoldValues, StatesAreNotConstants) {
  const Value ones = apply("_ones", {}, {{"shape", "(2,)"}});
  const Value norm = apply(
      "BatchNorm",
      {variable("x"), ones, zeros("(2,)"), zeros("(2,)"), apply("_ones", {}, {{"shape", "(2,)"}})},
      {{"fix_gamma", "False"}});
  Executor executor(graph_of({norm}), Device::cpu(),
                    bind_arrays({array_of({1, 2, 3, 5}, {2, 2})}, Request::kWrite));
  std::vector<Values> grads;
  for (int i = 0; i < 2; ++i) {
    executor.forward(true);
    executor.backward({});
    grads.push_back(values_of(executor.arrays().grads[0]));
  }
  EXPECT_EQ(grads[0], grads[1]);
  EXPECT_TRUE(contains(executor.debug_str(), "(_zeros)")) << executor.debug_str();
}

TEST(FoldValues, AConstantThatIsAResultIsDeliveredEachTime) {
  const ir::Graph graph = graph_of({arange(3)});
  Executor executor(graph, Device::cpu(), bind_arrays({}));
  for (int i = 0; i < 2; ++i) {
    executor.forward(false);
    EXPECT_EQ(values_of(executor.outputs()[0]), (Values{0, 1, 2}));
    NDArray(executor.outputs()[0]).sync_copy_from(Values{7, 7, 7}.data(), 3);
  }
}

TEST(FoldValues, GradientsThatAreConstantAreAddedAsAskedFor) {
  const ir::Graph graph = graph_of({apply("sum", {apply("ones_like", {variable("x")})})});
  Executor executor(graph, Device::cpu(), bind_arrays({array_of({3, 4})}, Request::kAdd));
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(executor.arrays().grads[0]), (Values{1, 1}));  // what was there, plus zeros
}

TEST(FoldValues, EqualConstantsOfOtherValuesStayApart) {
  const ir::Graph graph = graph_of({apply(
      "elemwise_mul", {apply("elemwise_add", {variable("x"), arange(2)}), arange(2) + 3.0})});
  const std::vector<NDArray> args{array_of({1, 1})};
  EXPECT_EQ(run(graph, args).values, (Values{3, 8}));
}

TEST(FoldValues, ThreadsOfACachedOpShareThem) {
  const ir::Graph graph =
      graph_of({apply("elemwise_add", {variable("x"), apply("exp", {arange(4)})})});
  CachedOp op(graph, {});
  NDArray x = array_of({0, 0, 0, 0});
  NDArray* const inputs[] = {&x};
  const Values expected = run_eagerly(graph, {x}, false).outputs[0];
  for (int i = 0; i < 3; ++i) {
    NDArray out;
    op.invoke(inputs, std::array<NDArray*, 1>{&out}, Device::cpu());
    EXPECT_EQ(values_of(out), expected);
  }
}

// What a kernel refuses is refused when the graph runs, with the node's name.
TEST(FoldValues, ErrorsAreThoseOfTheRun) {
  const Value broken = named("broken", apply("_linalg_potrf", {zeros("(2, 2)")}));
  const ir::Graph graph = graph_of({apply("elemwise_add", {variable("x"), broken})});
  try {
    run(graph, {array_of({1, 2, 3, 4}, {2, 2})});
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "broken")) << error.what();
  }
}

// Both differences pass the same gradient on, with its sign turned.
TEST(JointPasses, EqualCallsOfTheBackwardPartRunOnce) {
  const Setting apart("MXNET_USE_FUSION", "0");
  const Value a = variable("a"), b = variable("b"), c = variable("c");
  const ir::Graph graph = graph_of({(a - b) + (c - b)});
  const auto steps = [&] {
    Executor executor(graph, Device::cpu(),
                      bind_arrays({array_of({5}), array_of({2}), array_of({1})}, Request::kWrite));
    executor.forward(true);
    executor.backward({});
    EXPECT_EQ(values_of(executor.arrays().grads[1]), (Values{-2}));
    const std::string plan = executor.debug_str();
    int count = 0;  // of steps: a line each
    for (std::size_t at = plan.find("\n  "); at != plan.npos; at = plan.find("\n  ", at + 1))
      ++count;
    return count;
  };
  const int merged = steps();
  const Setting off("MXNET_ELIMINATE_COMMON_EXPR", "0");
  EXPECT_EQ(steps(), merged + 1);
}

TEST(JointPasses, EveryPassOfATrainingGraphIsShown) {
  const graph_test::Dumps dumps;
  {
    const Setting mirror("MXNET_MEMORY_OPT", "1");
    const Value table = named("table", arange(2));
    Executor executor(graph_of({apply("elemwise_mul", {variable("x"), table})}), Device::cpu(),
                      bind_arrays({array_of({1, 2})}, Request::kWrite));
    executor.forward(true);
  }
  auto shown = dumps.shown();
  for (const char* pass :
       {"infer", "remove_cast_pairs", "eliminate_copies", "eliminate_common_expressions",
        "gradient", "eliminate_reshapes", "fold_constants", "mirror", "fuse_pointwise"}) {
    EXPECT_TRUE(shown.contains(std::string(pass) + "_before")) << pass;
    EXPECT_TRUE(shown.contains(std::string(pass) + "_after")) << pass;
  }
  EXPECT_TRUE(contains(shown["fold_constants_before"], "_arange"));
  EXPECT_FALSE(contains(shown["fold_constants_after"], "_arange"));
  EXPECT_TRUE(contains(shown["fold_constants_after"], "_sg_constant"));
}

TEST(InferencePasses, EachIsShown) {
  const graph_test::Dumps dumps;
  Executor executor(graph_of({apply("tanh", {variable("x")})}), Device::cpu(),
                    bind_arrays({array_of({1, 2})}, Request::kNull));
  executor.forward(false);
  const auto shown = dumps.shown();
  for (const char* pass : {"infer", "eliminate_reshapes", "fold_constants", "fuse_convolutions",
                           "fuse_dense", "lay_out", "fuse_pointwise"}) {
    EXPECT_TRUE(shown.contains(std::string(pass) + "_before")) << pass;
    EXPECT_TRUE(shown.contains(std::string(pass) + "_after")) << pass;
  }
}

}  // namespace
}  // namespace mxnet
