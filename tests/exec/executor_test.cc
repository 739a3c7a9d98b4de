// SPDX-License-Identifier: Apache-2.0
// Executors: results and gradients equal eager calls, requests, monitors, errors, shared memory.
#include "exec/executor.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "exec/plan_fixture.h"

namespace mxnet {
namespace {

constexpr unsigned kSeed = 91;

TEST(Executor, ForwardEqualsEagerCalls) {
  Mlp mlp(4, 3, 8, kSeed);
  const std::vector<NDArray> args = mlp.arrays();
  const EagerResults eager = run_eagerly(mlp.graph, args, false);
  Executor executor(mlp.graph, Device::cpu(), bind_arrays(args));
  executor.forward(false);
  EXPECT_EQ(values_of(executor.outputs()[0]), eager.outputs[0]);
}

TEST(Executor, GradientsEqualEagerOnes) {
  Mlp mlp(4, 3, 8, kSeed);
  const std::vector<NDArray> args = mlp.arrays();
  const EagerResults eager = run_eagerly(mlp.graph, args);
  Executor executor(mlp.graph, Device::cpu(), bind_arrays(args, Request::kWrite));
  for (int step = 0; step < 3; ++step) {
    executor.forward(true);
    executor.backward({});
    EXPECT_EQ(values_of(executor.outputs()[0]), eager.outputs[0]);
    for (std::size_t i = 0; i < args.size(); ++i)
      EXPECT_EQ(values_of(executor.arrays().grads[i]), eager.grads[i]) << "argument " << i;
  }
}

TEST(Executor, AddRequestsAccumulate) {
  const Value x = variable("x");
  const ir::Graph graph = graph_of({x * 3.0});
  Executor executor(graph, Device::cpu(), bind_arrays({array_of({1, 2})}, Request::kAdd));
  for (int step = 1; step <= 2; ++step) {
    executor.forward(true);
    executor.backward({});
    EXPECT_EQ(values_of(executor.arrays().grads[0]),
              Values(2, 1.0f + 3.0f * static_cast<float>(step)));
  }
}

TEST(Executor, ArgumentsWithoutGradientGetNone) {
  const Value x = variable("x"), y = variable("y");
  ExecutorArrays arrays = bind_arrays({array_of({2}), array_of({5})}, Request::kWrite);
  arrays.requests[1] = Request::kNull;
  Executor executor(graph_of({x * y}), Device::cpu(), arrays);
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(arrays.grads[0]), Values{5});
  EXPECT_EQ(values_of(arrays.grads[1]), Values{1});  // as it was
}

TEST(Executor, GradientThatDoesNotDependOnTheArgumentIsZero) {
  const Value x = variable("x"), y = variable("y");
  Executor executor(graph_of({x * 2.0, zeros_like(y)}), Device::cpu(),
                    bind_arrays({array_of({2}), array_of({5})}, Request::kWrite));
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(executor.arrays().grads[1]), Values{0});
}

TEST(Executor, HeadGradientsScaleTheResult) {
  const Value x = variable("x");
  Executor executor(graph_of({x * 3.0}), Device::cpu(),
                    bind_arrays({array_of({1, 2})}, Request::kWrite));
  const NDArray head = array_of({10, 100});
  const NDArray* heads[] = {&head};
  executor.forward(true);
  executor.backward(heads);
  EXPECT_EQ(values_of(executor.arrays().grads[0]), (Values{30, 300}));
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(executor.arrays().grads[0]), (Values{3, 3}));
}

TEST(Executor, VariablesAndRepeatedValuesCanBeOutputs) {
  const Value x = variable("x"), y = x + 1.0;
  Executor executor(graph_of({x, y, y}), Device::cpu(), bind_arrays({array_of({4})}));
  executor.forward(false);
  EXPECT_EQ(values_of(executor.outputs()[0]), Values{4});
  EXPECT_EQ(values_of(executor.outputs()[1]), Values{5});
  EXPECT_EQ(values_of(executor.outputs()[2]), Values{5});
}

TEST(Executor, SeesNewValuesOfItsArrays) {
  const NDArray x = array_of({1});
  Executor executor(graph_of({variable("x") * 2.0}), Device::cpu(), bind_arrays({x}));
  executor.forward(false);
  EXPECT_EQ(values_of(executor.outputs()[0]), Values{2});
  array_of({7}).copy_to(x);
  executor.forward(false);
  EXPECT_EQ(values_of(executor.outputs()[0]), Values{14});
}

TEST(Executor, BackwardFollowsAForward) {
  Executor executor(graph_of({variable("x") * 2.0}), Device::cpu(),
                    bind_arrays({array_of({1})}, Request::kWrite));
  EXPECT_TRUE(contains(error_of([&] { executor.backward({}); }), "expected forward()"));
}

TEST(Executor, DifferentiatesTrainingAsOftenAsAsked) {
  const Value x = variable("x");
  Executor executor(graph_of({x * x}), Device::cpu(), bind_arrays({array_of({3})}, Request::kAdd));
  executor.forward(true);
  for (const float expected : {7.0f, 13.0f, 19.0f}) {
    executor.backward({});
    EXPECT_EQ(values_of(executor.arrays().grads[0]), Values{expected});
  }
}

TEST(Executor, DifferentiatesInferenceAsOftenAsAsked) {
  const Value x = variable("x");
  Executor executor(graph_of({x * x}), Device::cpu(), bind_arrays({array_of({3})}, Request::kAdd));
  executor.forward(false);
  for (const float expected : {7.0f, 13.0f}) {  // added to the gradients, which begin with ones
    executor.backward({});
    EXPECT_EQ(values_of(executor.arrays().grads[0]), Values{expected});
  }
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(executor.arrays().grads[0]), Values{19});
  EXPECT_EQ(values_of(executor.outputs()[0]), Values{9});
}

TEST(Executor, MonitorSeesEveryNode) {
  Mlp mlp(2, 2, 4, kSeed);
  const std::vector<NDArray> args = mlp.arrays();
  Executor executor(mlp.graph, Device::cpu(), bind_arrays(args, Request::kWrite));
  std::vector<std::string> names;
  executor.set_monitor([&](const std::string& name, const NDArray&) { names.push_back(name); },
                       false);
  executor.forward(true);
  EXPECT_EQ(names, (std::vector<std::string>{"fc0_output", "add0_output", "relu0_output",
                                             "fc1_output", "add1_output"}));
  executor.backward({});
  const EagerResults eager = run_eagerly(mlp.graph, args);
  EXPECT_EQ(values_of(executor.outputs()[0]), eager.outputs[0]);
  for (std::size_t i = 0; i < args.size(); ++i)
    EXPECT_EQ(values_of(executor.arrays().grads[i]), eager.grads[i]);
}

TEST(Executor, ShapesThatFollowFromValuesRunNodeByNode) {
  const Value data = variable("data"), index = variable("index");
  const ir::Graph graph = graph_of({apply("_contrib_boolean_mask", {data, index}) * 2.0});
  const NDArray mask = array_of({0, 1, 1});
  ExecutorArrays arrays = bind_arrays({array_of({1, 2, 3}), mask}, Request::kWrite);
  arrays.requests[1] = Request::kNull;
  Executor executor(graph, Device::cpu(), arrays);
  executor.forward(true);
  EXPECT_EQ(values_of(executor.outputs()[0]), (Values{4, 6}));
  executor.backward({});
  EXPECT_EQ(values_of(arrays.grads[0]), (Values{0, 2, 2}));
}

TEST(Executor, WrongShapesNameTheNode) {
  const Value a = variable("a"), b = variable("b");
  const ir::Graph graph = graph_of({named("my_sum", apply("elemwise_add", {a, b}))});
  EXPECT_TRUE(contains(
      error_of([&] {
        Executor(graph, Device::cpu(), bind_arrays({array_of({1, 2}), array_of({1, 2, 3})}));
      }),
      "my_sum"));
}

TEST(Executor, ExecutorsSharingAPoolTakeTheLargestNotTheSum) {
  Mlp small(3, 2, 8, kSeed), large(3, 64, 8, kSeed);
  const std::vector<NDArray> a = small.arrays(), b = large.arrays();
  Executor first(small.graph, Device::cpu(), bind_arrays(a, Request::kWrite));
  first.forward(true);
  Executor second(large.graph, Device::cpu(), bind_arrays(b, Request::kWrite), first.pool());
  second.forward(true);
  second.backward({});
  first.forward(true);  // moves to the memory that the second has made
  first.backward({});
  Executor alone(large.graph, Device::cpu(), bind_arrays(b, Request::kWrite));
  alone.forward(true);
  EXPECT_EQ(first.pool()->bytes(), alone.pool()->bytes());
  const EagerResults eager = run_eagerly(small.graph, a);
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(values_of(first.arrays().grads[i]), eager.grads[i]);
}

TEST(Executor, DebugTextListsNodesAndBytes) {
  Mlp mlp(2, 2, 4, kSeed);
  Executor executor(mlp.graph, Device::cpu(), bind_arrays(mlp.arrays(), Request::kWrite));
  const std::string text = executor.debug_str();
  EXPECT_TRUE(contains(text, "fc1(dot)")) << text;
  EXPECT_TRUE(contains(text, "planned bytes")) << text;
}

}  // namespace
}  // namespace mxnet
