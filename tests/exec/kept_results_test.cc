// SPDX-License-Identifier: Apache-2.0
// Results that stay from run to run of a plan on a GPU, the simulated one here: computed when what
// they are made of has changed and not else, whether the rest is replayed or not.
#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"
#include "exec/plan_fixture.h"
#include "op/kept_results.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

const Device kGpu = Device::gpu(0);
std::atomic<int> g_runs{0};
std::atomic<bool> g_fails{false};

// 2 x and 3 x.
struct NoNumbers {};
void make_multiples(const NoNumbers&, KernelContext& context) {
  ++g_runs;
  const Tensor& in = context.in(0);
  for (int64_t i = 0; i < in.size(); ++i) context.out(0).as<float>()[i] = 2 * in.as<float>()[i];
  if (g_fails) throw Error(ErrorCode::kValue, "test", "half-way");
  for (int64_t i = 0; i < in.size(); ++i) context.out(1).as<float>()[i] = 3 * in.as<float>()[i];
}
[[maybe_unused]] const bool defined = [] {
  OpBuilder<NoNumbers>("_test_multiples")
      .doc("Twice and three times the input.")
      .input("data", "An array.")
      .outputs([](const NoNumbers&) { return 2; })
      .infer([](const NoNumbers&, Infer& infer) {
        infer.out(0).same_as(infer.in(0));
        infer.out(1).same_as(infer.in(0));
      })
      .cpu(make_multiples);
  return mark_kept("_test_multiples");
}();

// (2 w) * x + tanh(3 w), which are as many steps as make a graph of the device.
ir::Graph graph_with(const Value& w) {
  const Value kept = apply("_test_multiples", {w});
  const Value twice{ir::Entry{kept.entry().node, 0, 0}}, thrice{ir::Entry{kept.entry().node, 1, 0}};
  return graph_of({twice * variable("x") + apply("tanh", {thrice})});
}
Values expected(float w, float x) { return {2 * w * x + std::tanh(3 * w)}; }

struct Bound {
  explicit Bound(const ir::Graph& graph, bool training = false)
      : w(array_of({0.5f}, {}, kGpu)), x(array_of({1}, {}, kGpu)) {
    const IndexedGraph indexed(graph);
    ExecutorArrays arrays;
    for (const int n : indexed.arguments()) {
      arrays.args.push_back(indexed.node(n).name == "w" ? w : x);
      arrays.requests.push_back(Request::kNull);
      arrays.grads.emplace_back();
    }
    executor = std::make_unique<Executor>(graph, kGpu, std::move(arrays));
    train = training;
  }
  Values run(float value) {
    array_of({value}).copy_to(x);
    executor->forward(train);
    return values_of(executor->outputs()[0]);
  }
  NDArray w, x;
  bool train = false;
  std::unique_ptr<Executor> executor;
};

void expect_values(const Values& found, const Values& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6);
}

TEST(KeptResults, AreMadeAnewWhenTheirArrayHasChangedAndNotElse) {
  for (const char* graphs : {"0", "1"}) {
    for (const char* bulk : {"1", "0"}) {  // one operation of the engine, or one for each step
      SCOPED_TRACE(std::string("graphs ") + graphs + ", bulk " + bulk);
      const Setting replay("MXNET_ENABLE_CUDA_GRAPHS", graphs);
      const Setting merge("MXNET_EXEC_BULK_EXEC_INFERENCE", bulk);
      Bound net(graph_with(variable("w")));
      const std::string plan = net.executor->debug_str();
      EXPECT_NE(plan.find("=kept1"), std::string::npos) << plan;
      EXPECT_NE(plan.find("8 kept from run to run"), std::string::npos) << plan;
      g_runs = 0;
      for (int i = 0; i < 4; ++i) expect_values(net.run(i), expected(0.5f, i));
      EXPECT_EQ(g_runs, 1);
      array_of({-2}).copy_to(net.w);
      for (int i = 0; i < 3; ++i) expect_values(net.run(i), expected(-2, i));
      EXPECT_EQ(g_runs, 2);
      const float four = 4;
      net.w.view_as(Shape{1}, DType::kFloat32).sync_copy_from(&four, 1);
      expect_values(net.run(5), expected(4, 5));
      EXPECT_EQ(g_runs, 3) << "written through a view";
    }
  }
}

TEST(KeptResults, NothingIsKeptOfAnArrayWhoseAddressOthersHave) {
  Bound net(graph_with(variable("w")));
  net.run(1);
  net.w.chunk()->hand_out();
  g_runs = 0;
  for (int i = 0; i < 3; ++i) expect_values(net.run(i), expected(0.5f, i));
  EXPECT_EQ(g_runs, 3);
}

TEST(KeptResults, WhatFailedHalfWayIsMadeAnew) {
  Bound net(graph_with(variable("w")));
  expect_values(net.run(1), expected(0.5f, 1));
  array_of({3}).copy_to(net.w);
  g_fails = true;
  EXPECT_THROW(net.run(1), Error);
  g_fails = false;
  expect_values(net.run(1), expected(3, 1));
}

TEST(KeptResults, NothingIsKeptOfWhatARunComputesNorInTraining) {
  const auto runs = [](const ir::Graph& graph, bool training) {
    Bound net(graph, training);
    g_runs = 0;
    for (int i = 0; i < 3; ++i) net.run(i);
    return int{g_runs};
  };
  EXPECT_EQ(runs(graph_with(variable("w")), false), 1);
  EXPECT_EQ(runs(graph_with(variable("w")), true), 3);
  EXPECT_EQ(runs(graph_with(apply("relu", {variable("w")})), false), 3);
}

// An output of the graph is the caller's array, which anybody may write.
TEST(KeptResults, AnOutputIsNotKept) {
  const Value kept = apply("_test_multiples", {variable("w")});
  Bound net(graph_of({kept, variable("x") + 1.0}));
  EXPECT_EQ(net.executor->debug_str().find("=kept"), std::string::npos);
  expect_values(net.run(1), {1});
}

}  // namespace
}  // namespace mxnet
