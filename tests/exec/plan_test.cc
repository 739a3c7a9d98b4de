// SPDX-License-Identifier: Apache-2.0
// Plans: segments as engine operations, failures that name their node, random graphs against eager
// calls.
#include "exec/plan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "exec/plan_fixture.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

// Fails while it runs if its first element is negative.
void fussy_cpu(const NoParams&, KernelContext& context) {
  if (context.in(0).as<float>()[0] < 0)
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
  const Variable off("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
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

TEST(Plan, RandomGraphsEqualEagerCalls) {
  const unsigned seed = 1234;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    std::vector<Value> values{variable("a"), variable("b"), variable("c")};
    const int count = 3 + static_cast<int>(random() % 25);
    for (int i = 0; i < count; ++i) {
      const auto pick = [&] {
        return values[values.size() - 1 - random() % std::min<std::size_t>(values.size(), 7)];
      };
      Value made;
      switch (random() % 6) {
        case 0:
          made = pick() + pick();
          break;
        case 1:
          made = pick() * pick();
          break;
        case 2:
          made = apply("dot", {pick(), pick()}) * 0.2;
          break;
        case 3:
          made = apply("tanh", {pick()});
          break;
        case 4:
          made = apply("transpose", {pick()});
          break;
        default:
          made = apply("relu", {pick()}) - 0.1;
      }
      values.push_back(made);
    }
    const Value all = values[values.size() - 1] + values[0] + values[1] + values[2];
    const ir::Graph graph = graph_of({all, values[values.size() / 2 + 1]});
    std::vector<NDArray> args;
    for (std::size_t i = 0; i < IndexedGraph(graph).arguments().size(); ++i)
      args.push_back(random_array({4, 4}, random));
    const EagerResults eager = run_eagerly(graph, args);
    const Variable inplace("MXNET_EXEC_ENABLE_INPLACE", round % 2 == 0 ? "1" : "0");
    const Variable bulk("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", std::to_string(1 + round % 9));
    Executor executor(graph, Device::cpu(), bind_arrays(args, Request::kWrite));
    for (int step = 0; step < 2; ++step) {
      executor.forward(true);
      executor.backward({});
      for (std::size_t o = 0; o < 2; ++o)
        EXPECT_EQ(values_of(executor.outputs()[o]), eager.outputs[o]) << "round " << round;
      for (std::size_t i = 0; i < args.size(); ++i) {
        const Values got = values_of(executor.arrays().grads[i]);
        for (std::size_t k = 0; k < got.size(); ++k)
          EXPECT_NEAR(got[k], eager.grads[i][k], 1e-5 * (1 + std::abs(got[k])))
              << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
