// SPDX-License-Identifier: Apache-2.0
// Plans: segments as engine operations, failures that name their node, random graphs against eager
// calls.
#include "exec/plan.h"

#include <gtest/gtest.h>

#include <deque>
#include <new>

#include "base/error.h"
#include "exec/plan_fixture.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

// Fails while it runs if its first element is negative, in a way that the number chooses.
void fussy_cpu(const NoParams&, KernelContext& context) {
  const float first = context.in(0).as<float>()[0];
  if (first == -3) throw std::bad_alloc();
  if (first == -2) throw Error(ErrorCode::kOutOfMemory, "cpu(0)", "given 8 bytes, expected less");
  if (first < 0)
    throw Error(ErrorCode::kValue, "_test_fussy", "given a negative number, expected none");
  for (int64_t i = 0; i < context.in(0).size(); ++i)
    context.out(0).as<float>()[i] = context.in(0).as<float>()[i];
}

MX_OP(_test_fussy, NoParams)
.doc("Copies numbers that begin with one of at least zero.")
    .input("data", "Numbers.")
    .dtypes(kFloating)
    .infer([](const NoParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); })
    .cpu(fussy_cpu)
    .grad([](const NoParams&, Grad& grad) { return Gradients{grad.dout(0) * 1.0}; });

std::size_t segments_of(const ir::Graph& graph, const Shape& shape, const PlanOptions& options) {
  IndexedGraph indexed(graph);
  std::vector<ArrayType> types = types_of(indexed, shape);
  return Plan(std::move(indexed), std::move(types), options).segments().size();
}

ir::Graph chain(int length) {
  Value x = variable("x");
  for (int i = 0; i < length; ++i) x = x + 1.0;
  return graph_of({x});
}

TEST(Plan, InferenceIsOneEngineOperationUnlessBulkIsOff) {
  EXPECT_EQ(segments_of(chain(40), {2}, PlanOptions::configured(Device::cpu(), false)), 1u);
  const Setting off("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  EXPECT_EQ(segments_of(chain(40), {2}, PlanOptions::configured(Device::cpu(), false)), 40u);
}

TEST(Plan, FailuresNameTheNodeAndLeaveTheExecutorUsable) {
  const NDArray x = array_of({-1, 2});
  const Value fussy = named("picky", apply("_test_fussy", {variable("x") + 0.0}));
  Executor executor(graph_of({fussy * 2.0, fussy + 1.0}), Device::cpu(),
                    bind_arrays({x}, Request::kWrite));
  for (int round = 0; round < 3; ++round) {
    array_of({-1, 2}).copy_to(x);
    executor.forward(true);
    EXPECT_TRUE(
        contains(error_of([&] { values_of(executor.outputs()[0]); }), "picky(_test_fussy)"));
    array_of({1, 2}).copy_to(x);
    executor.forward(true);
    executor.backward({});
    EXPECT_EQ(values_of(executor.outputs()[0]), (Values{2, 4}));
    EXPECT_EQ(values_of(executor.outputs()[1]), (Values{2, 3}));
    EXPECT_EQ(values_of(executor.arrays().grads[0]), (Values{3, 3}));
  }
}

TEST(Plan, FailuresKeepTheirKindAndWhoElseTheyName) {
  const NDArray x = array_of({1, 2});
  Executor executor(graph_of({named("picky", apply("_test_fussy", {variable("x")}))}),
                    Device::cpu(), bind_arrays({x}, Request::kNull));
  const auto told = [&](float first) {
    array_of({first, 2}).copy_to(x);
    executor.forward(false);
    return error_of([&] { values_of(executor.outputs()[0]); });
  };
  EXPECT_TRUE(contains(told(-1), "ValueError: [picky(_test_fussy)] given a negative number"));
  EXPECT_TRUE(contains(told(-2), "[picky(_test_fussy)] cpu(0): given 8 bytes, expected less"));
  EXPECT_TRUE(contains(told(-3), "[picky(_test_fussy)] out of host memory"));
}

// A rule that complains of two elements; the engine, within it, of three.
MX_OP(_test_fussy_rule, NoParams)
.doc("Copies one number.")
    .input("data", "Numbers.")
    .infer([](const NoParams&, Infer& infer) {
      if (infer.in(0).dim(0) == 3)
        throw Error(ErrorCode::kGeneric, kEngineTag, "given an interrupt, expected none");
      throw Error(ErrorCode::kValue, "given two elements, expected one");
    })
    .cpu(fussy_cpu);

TEST(EagerGraph, ANodeIsBlamedForItsFailuresAndNotForAnInterrupt) {
  const ir::Graph graph = graph_of({named("picky", apply("_test_fussy_rule", {variable("x")}))});
  const auto told = [&](const Values& values) {
    return error_of([&] { run_eagerly(graph, {array_of(values)}, false); });
  };
  EXPECT_TRUE(contains(told({1, 2}), "ValueError: [picky(_test_fussy_rule)] given two elements"));
  EXPECT_TRUE(contains(told({1, 2, 3}), "MXNetError: [engine] given an interrupt"));
}

// Settings that change how a graph is compiled, and never what it computes.
struct Settings {
  const char* name;
  std::vector<std::pair<const char*, const char*>> rows;
};
const Settings kSettings[] = {
    {"plain", {}},
    {"apart", {{"MXNET_EXEC_ENABLE_INPLACE", "0"}, {"MXNET_USE_FUSION", "0"}}},
    {"mirrored", {{"MXNET_BACKWARD_DO_MIRROR", "1"}}},
    {"smallest", {{"MXNET_MEMORY_OPT", "1"}, {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "3"}}},
    {"budget", {{"MXNET_BACKWARD_MIRROR_BUDGET", "256"}, {"NNVM_EXEC_MATCH_RANGE", "0"}}},
    {"no passes",
     {{"MXNET_ELIMINATE_COMMON_EXPR", "0"},
      {"MXNET_NODE_ELIMINATION", "0"},
      {"MXNET_EXEC_BULK_EXEC_TRAIN", "0"}}},
};
std::deque<Setting> set_all(const Settings& settings) {
  std::deque<Setting> rows;
  for (const auto& [name, value] : settings.rows) rows.emplace_back(name, value);
  return rows;
}

TEST(Plan, AThousandRandomGraphsEqualEagerCalls) {
  const unsigned seed = 1234;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 1000 && !testing::Test::HasFailure(); ++round) {
    const ir::Graph graph = random_graph(random);
    std::vector<NDArray> args;
    for (std::size_t i = 0; i < IndexedGraph(graph).arguments().size(); ++i)
      args.push_back(random_array({4, 4}, random));
    const EagerResults eager = run_eagerly(graph, args);
    const Settings& settings = kSettings[static_cast<std::size_t>(round) % std::size(kSettings)];
    SCOPED_TRACE(testing::Message() << "round " << round << ", " << settings.name);
    const std::deque<Setting> rows = set_all(settings);
    Executor executor(graph, Device::cpu(), bind_arrays(args, Request::kWrite));
    for (int step = 0; step < 2; ++step) {
      executor.forward(true);
      executor.backward({});
      for (std::size_t o = 0; o < 2; ++o)
        EXPECT_EQ(values_of(executor.outputs()[o]), eager.outputs[o]);
      for (std::size_t i = 0; i < args.size(); ++i) {
        const Values got = values_of(executor.arrays().grads[i]);
        for (std::size_t k = 0; k < got.size(); ++k)
          EXPECT_NEAR(got[k], eager.grads[i][k], 1e-5 * (1 + std::abs(got[k])));
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
