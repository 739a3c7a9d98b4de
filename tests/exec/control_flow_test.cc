// SPDX-License-Identifier: Apache-2.0
// Control flow: networks that the reference has saved (tests/data/symbols), with the numbers that
// it gives; shapes; cached ops; what does not fit.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "exec/cached_op.h"
#include "exec/executor.h"
#include "exec/plan_fixture.h"
#include "graph/infer.h"
#include "graph/load.h"
#include "paths.h"

namespace mxnet {
namespace {

ir::Graph saved(const std::string& name) {
  const Symbol symbol = load_symbol_file(test_data("symbols/" + name + "-symbol.json"));
  return {{symbol.outputs().begin(), symbol.outputs().end()}};
}

NDArray matrix(const Values& values, int64_t rows) {
  return array_of(values).reshape(Shape{rows, static_cast<int64_t>(values.size()) / rows});
}

// Outputs and gradients for head gradients of ones.
struct Step {
  explicit Step(const ir::Graph& graph, const std::vector<NDArray>& args)
      : executor(graph, Device::cpu(), bind_arrays(args, Request::kWrite)) {
    executor.forward(true);
    std::vector<NDArray> ones;
    for (const NDArray& output : executor.outputs()) {
      ones.emplace_back(output.shape(), output.dtype(), Device::cpu());
      fill_array("ones_like", ones.back());
    }
    std::vector<const NDArray*> heads;
    for (const NDArray& one : ones) heads.push_back(&one);
    executor.backward(heads);
  }
  Values output(std::size_t o) const { return values_of(executor.outputs()[o]); }
  Values gradient(std::size_t i) const { return values_of(executor.arrays().grads[i]); }
  Executor executor;
};

// data, s0, w: out = x * w + s, s = x * s.
std::vector<NDArray> foreach_arguments() {
  return {matrix({1, 2, 3, 4, 5, 6}, 3), array_of({1, 2}), array_of({0.5, 2})};
}

TEST(ControlFlow, ForeachGivesTheNumbersOfTheReference) {
  const Step step(saved("foreach_state"), foreach_arguments());
  EXPECT_EQ(step.output(0), (Values{1.5, 6, 2.5, 12, 5.5, 28}));
  EXPECT_EQ(step.output(1), (Values{15, 96}));
  EXPECT_EQ(step.gradient(0), (Values{19.5, 60, 6.5, 30, 3.5, 18}));
  EXPECT_EQ(step.gradient(1), (Values{20, 59}));
  EXPECT_EQ(step.gradient(2), (Values{9, 12}));
}

TEST(ControlFlow, WhileLoopGivesTheNumbersOfTheReferenceAndZerosBehindThem) {
  const Step step(saved("while_loop"), {array_of({1}), array_of({2})});
  EXPECT_EQ(step.output(0), (Values{2, 4, 12, 48, 240, 0, 0, 0, 0, 0}));
  EXPECT_EQ(step.output(1), Values{6});
  EXPECT_EQ(step.output(2), Values{240});
  EXPECT_EQ(step.gradient(0), Values{1227});
  EXPECT_EQ(step.gradient(1), Values{273});
}

TEST(ControlFlow, WhileLoopThatNeverRunsGivesZerosAndItsVariables) {
  const Step step(saved("while_loop"), {array_of({9}), array_of({2})});
  EXPECT_EQ(step.output(0), Values(10, 0));
  EXPECT_EQ(step.output(1), Values{9});
  EXPECT_EQ(step.output(2), Values{2});
}

TEST(ControlFlow, CondRunsOneBranch) {
  const Step then(saved("cond"), {array_of({1}), array_of({2})});
  EXPECT_EQ(then.output(0), Values{42});
  EXPECT_EQ(then.gradient(0), Values{7});
  EXPECT_EQ(then.gradient(1), Values{6});
  const Step otherwise(saved("cond"), {array_of({3}), array_of({4})});
  EXPECT_EQ(otherwise.output(0), Values{2});
  EXPECT_EQ(otherwise.gradient(0), Values{-1});
  EXPECT_EQ(otherwise.gradient(1), Values{-2});
}

TEST(ControlFlow, CachedOpsAreDifferentiatedThroughLoops) {
  CachedOp op(saved("foreach_state"), CachedOpFlags{});
  std::vector<NDArray> args = foreach_arguments(), grads, outputs(2);
  for (NDArray& arg : args) {
    grads.emplace_back(arg.shape(), arg.dtype(), Device::cpu());
    mark_variable(arg, Request::kWrite, grads.back());
  }
  const std::array<NDArray*, 3> in{&args[0], &args[1], &args[2]};
  const std::array<NDArray*, 2> out{&outputs[0], &outputs[1]};
  {
    const AutogradScope scope({.recording = true, .training = true});
    op.invoke(in, out, Device::cpu());
  }
  const std::array<const NDArray*, 2> heads{&outputs[0], &outputs[1]};
  backward(heads, {});
  EXPECT_EQ(values_of(outputs[1]), (Values{15, 96}));
  EXPECT_EQ(values_of(grads[0]), (Values{19.5, 60, 6.5, 30, 3.5, 18}));
  EXPECT_EQ(values_of(grads[2]), (Values{9, 12}));
}

TEST(ControlFlow, ShapesGoThroughBodies) {
  const IndexedGraph graph(saved("foreach_state"));
  std::vector<ArrayType> types(static_cast<std::size_t>(graph.num_entries()));
  types[0] = {Shape{7, 2, 3}, DType::kFloat32};  // the data; the rest follows from it
  EXPECT_TRUE(infer_graph(graph, &types));
  const auto type = [&](std::size_t o) {
    return types[static_cast<std::size_t>(graph.outputs()[o])];
  };
  EXPECT_EQ(type(0).shape, (Shape{7, 2, 3}));
  EXPECT_EQ(type(1).shape, (Shape{2, 3}));
  for (int n : graph.arguments().subspan(1))
    EXPECT_EQ(types[static_cast<std::size_t>(graph.first_entry(n))].shape, (Shape{2, 3}));
}

TEST(ControlFlow, DataOfDifferentLengthsAreAnError) {
  const ir::Graph graph = saved("foreach_state");
  EXPECT_THROW(Executor(graph, Device::cpu(),
                        bind_arrays({matrix({1, 2, 3, 4}, 2), array_of({1}), array_of({0.5, 2})})),
               Error);
}

// What a file says of the three inputs of a body: one that is nobody's would be read all the same.
TEST(ControlFlow, ABodyThatLacksAnInputIsAnError) {
  const auto loads = [](const std::string& where, const std::string& inputs, int count) {
    const auto x = [](int i) {
      return fmt::format(R"({{"op":"null","name":"x{}","inputs":[]}})", i);
    };
    load_symbol(fmt::format(
        R"({{"nodes":[{0},{1},{2},{{"op":"_foreach","name":"f","inputs":[{3}],"attrs":{{)"
        R"("num_args":"{4}","num_outputs":"1","num_out_data":"1",{5}}},"subgraphs":[{{"nodes":[)"
        R"({0},{1},{2},{{"op":"add_n","name":"s","attrs":{{"num_args":"3"}},)"
        R"("inputs":[[0,0],[1,0],[2,0]]}}],"arg_nodes":[0,1,2],"heads":[[3,0]]}}]}}],)"
        R"("arg_nodes":[0,1,2],"heads":[[3,0]]}})",
        x(0), x(1), x(2), inputs, count, where));
  };
  const std::string all = R"("in_data_locs":"[0]","in_state_locs":"[]","remain_locs":"[1,2]")";
  EXPECT_NO_THROW(loads(all, "[0,0],[1,0],[2,0]", 4));
  EXPECT_THROW(loads(all, "[0,0]", 2), Error);
  EXPECT_THROW(loads(R"("in_data_locs":"[0]","in_state_locs":"[]","remain_locs":"[0,0]")",
                     "[0,0],[1,0],[2,0]", 4),
               Error);
}

TEST(ControlFlow, ACallWithoutGraphsIsAnError) {
  std::vector<NDArray> args = foreach_arguments();
  const std::array<NDArray*, 3> in{&args[0], &args[1], &args[2]};
  EXPECT_THROW(call_op("_foreach", in,
                       {{"num_args", "3"},
                        {"num_outputs", "2"},
                        {"num_out_data", "1"},
                        {"in_state_locs", "[1]"},
                        {"in_data_locs", "[0]"},
                        {"remain_locs", "[2]"}}),
               Error);
}

}  // namespace
}  // namespace mxnet
