// SPDX-License-Identifier: Apache-2.0
// What a run of an executor, by a plan or node by node, says of what others have failed with: of
// runs before nothing, of memory that it does not write all.
#include <gtest/gtest.h>

#include <array>
#include <exception>
#include <future>
#include <optional>

#include "base/error.h"
#include "engine/engine.h"
#include "exec/plan_fixture.h"

namespace mxnet {
namespace {

// Writes `array` from now on until it is told to end.
OnComplete slow_write(const NDArray& array) {
  std::promise<OnComplete> begun;
  const std::array<Var*, 1> writes{array.var()};
  Engine::get().push_async(
      [&](const RunContext&, OnComplete complete) { begun.set_value(complete); },
      {.device = Device::cpu(), .reads = {}, .writes = writes, .name = "slow"});
  return begun.get_future().get();
}

// Never the last to go: the thread sanitizer does not see how the library of C++ counts who holds
// it.
const std::exception_ptr& broken() {
  static const auto error =
      std::make_exception_ptr(Error(ErrorCode::kValue, "test", "given what is broken"));
  return error;
}

// A variable of the engine that carries a failure.
void break_array(const NDArray& array) { slow_write(array).fail(broken()); }

bool is_broken(const NDArray& array) {
  return contains(error_of([&] { values_of(array); }), "given what is broken");
}

// Three ways to run: one operation of the engine, one for each node, and eager calls.
struct Way {
  const char *name, *bulk;
  bool monitored;
};
class ExecutorFailures : public testing::TestWithParam<Way> {
 protected:
  Executor& executor_of(const ir::Graph& graph, ExecutorArrays arrays) {
    executor_.emplace(graph, Device::cpu(), std::move(arrays));
    if (GetParam().monitored)
      executor_->set_monitor([](const std::string&, const NDArray&) {}, false);
    return *executor_;
  }
  ~ExecutorFailures() override {
    error_of([] { Engine::get().wait_for_all(); });
  }

 private:
  const Setting most_{"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", GetParam().bulk};
  std::optional<Executor> executor_;
};
INSTANTIATE_TEST_SUITE_P(Ways, ExecutorFailures,
                         testing::Values(Way{"Segments", "15", false}, Way{"Nodes", "1", false},
                                         Way{"Monitored", "15", true}),
                         [](const auto& info) { return info.param.name; });

// It has yet to fail when the next one is pushed; the values, of a copy in between.
TEST_P(ExecutorFailures, ARunThatFailsLaterSaysNothingOfTheOneBehindIt) {
  const NDArray x = array_of({-1, 2}), good = array_of({1, 2});
  const Value fussy = named("picky", apply("_test_fussy", {variable("x") + 0.0}));
  Executor& executor =
      executor_of(graph_of({fussy * 2.0, fussy + 1.0}), bind_arrays({x}, Request::kWrite));
  const OnComplete complete = slow_write(x);
  executor.forward(true);
  executor.backward({});
  good.copy_to(x);
  executor.forward(true);
  executor.backward({});
  complete();
  EXPECT_EQ(values_of(executor.outputs()[0]), (Values{2, 4}));
  EXPECT_EQ(values_of(executor.outputs()[1]), (Values{2, 3}));
  EXPECT_EQ(values_of(executor.arrays().grads[0]), (Values{3, 3}));
  EXPECT_TRUE(contains(error_of([] { Engine::get().wait_for_all(); }), "a negative number"));
}

TEST_P(ExecutorFailures, AHeadGradientThatHasFailedIsNoMatterOfTheNext) {
  const Value x = variable("x");
  Executor& executor =
      executor_of(graph_of({x * 3.0}), bind_arrays({array_of({1, 2})}, Request::kWrite));
  const NDArray bad = array_of({0, 0}), good = array_of({10, 100});
  const NDArray *bad_heads[] = {&bad}, *good_heads[] = {&good};
  break_array(bad);
  executor.forward(true);
  executor.backward(bad_heads);
  EXPECT_TRUE(is_broken(executor.arrays().grads[0]));
  executor.forward(true);
  executor.backward(good_heads);
  EXPECT_EQ(values_of(executor.arrays().grads[0]), (Values{30, 300}));
  executor.forward(true);
  executor.backward(bad_heads);
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(executor.arrays().grads[0]), (Values{3, 3}));
}

// Of a gradient in a part of an array the other part is no matter.
TEST_P(ExecutorFailures, AViewThatIsWrittenSaysNothingOfWhatLiesBesideIt) {
  const Value x = variable("x");
  const NDArray both = array_of({7, 7, 8, 8});
  ExecutorArrays arrays = bind_arrays({array_of({1, 2})}, Request::kWrite);
  arrays.grads[0] = both.slice(0, 2);
  Executor& executor = executor_of(graph_of({x * 3.0}), arrays);
  break_array(both);
  executor.forward(true);
  executor.backward({});
  EXPECT_TRUE(is_broken(both));
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(both), (Values{3, 3, 8, 8}));
}

// Gradients that are views of all parts of one array overwrite it as a whole.
TEST_P(ExecutorFailures, ViewsThatTogetherAreAllOfAnArrayEndWhatItCarries) {
  const Value x = variable("x"), y = variable("y");
  const NDArray both = array_of({7, 7, 8, 8});
  ExecutorArrays arrays = bind_arrays({array_of({1, 2}), array_of({3, 4})}, Request::kWrite);
  arrays.grads = {both.slice(2, 4), both.slice(0, 2)};
  Executor& executor = executor_of(graph_of({x * y}), arrays);
  break_array(both);
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(both), (Values{1, 2, 3, 4}));
}

// Where gradients are added, what was there before counts.
TEST_P(ExecutorFailures, WhatIsAddedToStaysFailed) {
  const Value x = variable("x");
  ExecutorArrays arrays = bind_arrays({array_of({1, 2})}, Request::kAdd);
  Executor& executor = executor_of(graph_of({x * 3.0}), arrays);
  break_array(arrays.grads[0]);
  executor.forward(true);
  executor.backward({});
  EXPECT_TRUE(is_broken(arrays.grads[0]));
}

// A gradient in memory that the run reads is made elsewhere, and added when it has ended.
TEST_P(ExecutorFailures, AGradientMadeElsewhereForgetsTheRunBefore) {
  const Value x = variable("x");
  ExecutorArrays arrays = bind_arrays({array_of({1, 2})}, Request::kAdd);
  arrays.grads[0] = arrays.args[0];
  Executor& executor = executor_of(graph_of({x * 3.0}), arrays);
  const NDArray bad = array_of({0, 0});
  const NDArray* bad_heads[] = {&bad};
  break_array(bad);
  executor.forward(true);
  executor.backward(bad_heads);
  EXPECT_TRUE(is_broken(arrays.grads[0]));
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(values_of(arrays.grads[0]), (Values{4, 5}));
}

}  // namespace
}  // namespace mxnet
