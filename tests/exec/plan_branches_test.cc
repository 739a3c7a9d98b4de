// SPDX-License-Identifier: Apache-2.0
// Branches of a graph with memory and workspaces of their own: what they may share, and that they
// run beside one another.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "exec/plan_fixture.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

// Where operators of two branches wait for one another.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  int here = 0;

  // Whether a second one came.
  bool attend() {
    std::unique_lock lock(mutex);
    ++here;
    changed.notify_all();
    return changed.wait_for(lock, std::chrono::seconds(60), [&] { return here >= 2; });
  }
};
Meeting* g_meeting = nullptr;  // of the test that runs

MX_OP(_test_meet, NoParams)
.doc("Copies numbers once a second call is running too; zeros if none comes.")
    .input("data", "Numbers.")
    .infer([](const NoParams&, Infer& infer) { infer.in(0).same_as(infer.out(0)); })
    .never_inline()
    .cpu([](const NoParams&, KernelContext& context) {
      const bool met = g_meeting->attend();
      for (int64_t i = 0; i < context.in(0).size(); ++i)
        context.out(0).as<float>()[i] = met ? context.in(0).as<float>()[i] : 0.0f;
    });

// Two ways from x to the sum of their ends.
ir::Graph two_branches(int length) {
  const Value x = variable("x");
  Value left = x, right = x;
  for (int i = 0; i < length; ++i) {
    left = named("left" + std::to_string(i), apply("dot", {left, left}));
    right = named("right" + std::to_string(i), apply("tanh", {right}));
  }
  return graph_of({left + right});
}

Plan plan_of(const ir::Graph& graph, const Shape& shape) {
  IndexedGraph indexed(graph);
  std::vector<ArrayType> types = types_of(indexed, shape);
  PlanOptions options = PlanOptions::configured(Device::cpu(), false);
  options.optimise = options.fuse_pointwise = false;
  return Plan(std::move(indexed), std::move(types), options);
}

// Arenas that hold results of nodes whose names begin with `prefix`.
std::set<int> arenas_of(const Plan& plan, std::string_view prefix) {
  std::set<int> arenas;
  for (const Plan::Step& step : plan.steps()) {
    if (!plan.graph().node(step.node).name.starts_with(prefix)) continue;
    const int arena = plan.tensors()[step.first_tensor + step.num_in].arena;
    if (arena >= 0) arenas.insert(arena);
  }
  return arenas;
}

TEST(PlanBranchesConfig, BranchesHaveMemoryOfTheirOwn) {
  const ir::Graph graph = two_branches(4);
  const Plan plain = plan_of(graph, {16, 16});
  EXPECT_EQ(plain.num_arenas(), 1);
  const Setting colors("NNVM_EXEC_NUM_TEMP", "2");
  const Plan colored = plan_of(graph, {16, 16});
  EXPECT_EQ(arenas_of(colored, "left"), std::set<int>{0});
  EXPECT_EQ(arenas_of(colored, "right"), std::set<int>{1});
  // Colours cost memory: what one branch has freed is of no use to the other.
  EXPECT_GE(colored.memory().arena_bytes, plain.memory().arena_bytes);
}

TEST(PlanBranchesConfig, BranchesShareSoManyWorkspaces) {
  const Setting apart("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  const Setting colors("NNVM_EXEC_NUM_TEMP", "3");
  EXPECT_EQ(plan_of(two_branches(4), {16, 16}).num_workspaces(), 1);
  // With one, all operations write the first arena's variable: they run one after the other.
  const Plan in_turns = plan_of(two_branches(4), {16, 16});
  for (const Plan::Segment& segment : in_turns.segments())
    EXPECT_EQ(segment.arenas_written & 1, 1u);
  const Setting workspaces("MXNET_EXEC_NUM_TEMP", "2");
  const Plan beside = plan_of(two_branches(4), {16, 16});
  EXPECT_EQ(beside.num_workspaces(), 2);
  std::set<uint32_t> alone;
  for (const Plan::Segment& segment : beside.segments()) alone.insert(segment.arenas_written);
  EXPECT_TRUE(alone.contains(1) && alone.contains(2));
}

TEST(PlanBranchesConfig, OneRowGivesBranchesBoth) {
  const Setting both("MXNET_EXEC_NUM_TEMP", "2");
  const Plan plan = plan_of(two_branches(4), {16, 16});
  EXPECT_EQ(plan.num_arenas(), 2);
  EXPECT_EQ(plan.num_workspaces(), 2);
}

TEST(PlanBranches, RunBesideOneAnother) {
  const Setting both("MXNET_EXEC_NUM_TEMP", "2"), apart("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  Meeting meeting;
  g_meeting = &meeting;
  const Value x = variable("x");
  const Value left = apply("_test_meet", {apply("exp", {x})});
  const Value right = apply("_test_meet", {apply("cos", {x})});
  Executor executor(graph_of({left + right}), Device::cpu(), bind_arrays({array_of({0, 0})}));
  executor.forward(false);
  EXPECT_EQ(values_of(executor.outputs()[0]), (Values{2, 2}));
}

// Operations of both branches in flight at once, run after run, on the same instance.
TEST(PlanBranches, ComputeWhatOneBranchComputes) {
  const unsigned seed = 31;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    const ir::Graph graph = random_graph(random);
    const std::size_t count = IndexedGraph(graph).arguments().size();
    std::vector<NDArray> args;
    for (std::size_t i = 0; i < count; ++i) args.push_back(random_array({4, 4}, random));
    const auto results = [&] {
      Executor executor(graph, Device::cpu(), bind_arrays(args, Request::kWrite));
      std::vector<Values> values;
      for (int run = 0; run < 3; ++run) {
        executor.forward(true);
        executor.backward({});
      }
      for (const NDArray& output : executor.outputs()) values.push_back(values_of(output));
      for (const NDArray& grad : executor.arrays().grads) values.push_back(values_of(grad));
      return values;
    };
    const std::vector<Values> expected = results();
    const Setting colors("MXNET_EXEC_NUM_TEMP", std::to_string(2 + round % 3).c_str());
    const std::string most = std::to_string(1 + round % 4);
    const Setting forward("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", most.c_str());
    const Setting backward("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", most.c_str());
    EXPECT_EQ(results(), expected) << "round " << round;
  }
}

TEST(PlanBranches, AFailureOfOneIsTheResultsAndIsForgottenByTheNextRun) {
  const Setting both("MXNET_EXEC_NUM_TEMP", "2"), apart("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  const Value x = variable("x");
  const Value taken = named("taken", apply("take", {variable("y"), x}, {{"mode", "raise"}}));
  const NDArray index = array_of({7, 0}), y = array_of({1, 2});
  Executor executor(graph_of({taken + apply("tanh", {apply("tanh", {x})})}), Device::cpu(),
                    bind_arrays({y, index}));
  executor.forward(false);
  EXPECT_TRUE(contains(error_of([&] { values_of(executor.outputs()[0]); }), "taken(take)"));
  array_of({0, 0}).copy_to(index);
  executor.forward(false);
  EXPECT_EQ(values_of(executor.outputs()[0]), (Values{1, 1}));
}

}  // namespace
}  // namespace mxnet
