// SPDX-License-Identifier: Apache-2.0
// The passes that a graph goes through on its way into a plan, and what they must not change.
#include <gtest/gtest.h>

#include <cmath>

#include "exec/cached_op.h"
#include "exec/plan_fixture.h"
#include "graph/partition.h"
#include "graph/symbol.h"

namespace mxnet {
namespace {

// sin(x) twice, and a copy of their product on the way to the result.
ir::Graph wasteful() {
  const Value x = variable("x");
  const Value product = apply("sin", {x}) * apply("sin", {x});
  return graph_of({apply("exp", {apply("_copy", {product})})});
}

std::string compiled(const ir::Graph& graph, Request request = Request::kNull) {
  return Executor(graph, Device::cpu(), bind_arrays({array_of({1, 2})}, request)).debug_str();
}

TEST(PlanPasses, EqualCallsRunOnceAndCopiesNotAtAll) {
  const Setting apart("MXNET_USE_FUSION", "0");
  for (const Request request : {Request::kNull, Request::kWrite}) {
    EXPECT_EQ(count(compiled(wasteful(), request), "(sin)"), 1);
    EXPECT_EQ(count(compiled(wasteful(), request), "(_copy)"), 0);
  }
}

TEST(PlanPasses, FollowTheConfiguration) {
  const Setting apart("MXNET_USE_FUSION", "0");
  const Setting common("MXNET_ELIMINATE_COMMON_EXPR", "0"), copies("MXNET_NODE_ELIMINATION", "0");
  EXPECT_EQ(count(compiled(wasteful()), "(sin)"), 2);
  EXPECT_EQ(count(compiled(wasteful()), "(_copy)"), 1);
}

TEST(PlanPasses, ChangeNoResultAndNoGradient) {
  const std::vector<NDArray> args{array_of({0.5f, -1.25f})};
  const EagerResults expected = run_eagerly(wasteful(), args);
  Executor executor(wasteful(), Device::cpu(), bind_arrays(args, Request::kWrite));
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(executor.outputs()[0]), expected.outputs[0]);
  const Values grad = values_of(executor.arrays().grads[0]);
  for (std::size_t i = 0; i < grad.size(); ++i) EXPECT_FLOAT_EQ(grad[i], expected.grads[0][i]);
}

// A network of which a backend has taken parts out: two variables, two results.
struct Parted {
  Parted() {
    const Value a = variable("a"), b = variable("b");
    whole = graph_of({apply("exp", {apply("sin", {b}) + a}), apply("sin", {a})});
    parts = partition(whole, *select_operators({"sin", "elemwise_add"}));
  }
  ir::Graph whole, parts;
};

TEST(PlanPasses, PartsOfBackendsRunInExecutors) {
  const Parted graphs;
  ASSERT_NE(Symbol(graphs.parts).debug_text().find("_CachedOp"), std::string::npos);
  const std::map<std::string, NDArray> values{{"a", array_of({1, 2})}, {"b", array_of({3, 4})}};
  const auto run = [&](const ir::Graph& graph, bool watched) {
    const IndexedGraph indexed(graph);
    std::vector<NDArray> args;
    for (int n : indexed.arguments()) args.push_back(values.at(indexed.node(n).name));
    Executor executor(graph, Device::cpu(), bind_arrays(args));
    if (watched) executor.set_monitor([](const std::string&, const NDArray&) {}, false);
    executor.forward(false);
    return std::pair(values_of(executor.outputs()[0]), values_of(executor.outputs()[1]));
  };
  const auto expected = run(graphs.whole, false);
  EXPECT_EQ(run(graphs.parts, false), expected);
  EXPECT_EQ(run(graphs.parts, true), expected);
}

TEST(PlanPasses, PartsOfBackendsRunInCachedOps) {
  const Parted graphs;
  NDArray a = array_of({1, 2}), b = array_of({3, 4});
  const auto run = [&](const ir::Graph& graph, int inline_limit) {
    CachedOpFlags flags;
    flags.inline_limit = inline_limit;
    CachedOp op(graph, flags);
    std::vector<NDArray*> inputs;
    for (int n : op.graph().variables()) inputs.push_back(op.graph().node(n).name == "a" ? &a : &b);
    NDArray first, second;
    op.invoke(inputs, std::array<NDArray*, 2>{&first, &second}, Device::cpu());
    return std::pair(values_of(first), values_of(second));
  };
  const auto expected = run(graphs.whole, 0);
  EXPECT_EQ(run(graphs.parts, 0), expected);
  EXPECT_EQ(run(graphs.parts, 100), expected);
}

// The begin state of a recurrent network: its batch is that of what it is added to.
ir::Graph begin_state() {
  const Value state = apply("_zeros", {}, {{"shape", "(0, 3)"}});
  return graph_of({apply("exp", {apply("elemwise_add", {variable("x"), state})})});
}

TEST(PlanPasses, ZeroDimensionsOfBeginStatesFollowFromTheirUse) {
  const NDArray x = array_of({1, 2, 3, 4, 5, 6}, {2, 3});
  for (const bool watched : {false, true}) {
    Executor executor(begin_state(), Device::cpu(), bind_arrays({x}));
    if (watched) executor.set_monitor([](const std::string&, const NDArray&) {}, false);
    executor.forward(false);
    EXPECT_EQ(executor.outputs()[0].shape(), (Shape{2, 3}));
    EXPECT_FLOAT_EQ(values_of(executor.outputs()[0])[5], std::exp(6.0f));
  }
}

}  // namespace
}  // namespace mxnet
