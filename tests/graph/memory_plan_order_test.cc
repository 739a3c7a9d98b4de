// SPDX-License-Identifier: Apache-2.0
// Orders of execution: inputs before users, the gradient of a weight as soon as it can be computed.
#include "graph/memory_plan_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/gradient.h"
#include "graph/graphs.h"

namespace mxnet {
namespace {

// x -> dot(x, w0) -> dot(., w1) -> ..., and the gradients of the weights. With a loss behind the
// last, which begins without a gradient.
IndexedGraph layers(int count, std::vector<ir::Entry>* weights, bool loss = false) {
  Value x = variable("x");
  for (int i = 0; i < count; ++i) {
    const Value w = variable("w" + std::to_string(i));
    weights->push_back(w.entry());
    x = named("fc" + std::to_string(i), apply("dot", {x, w}));
  }
  if (loss) x = apply("SoftmaxOutput", {x, variable("label")});
  ir::Graph graph = graph_of({x});
  const std::vector<ir::Entry> head{variable("head").entry()};
  for (ir::Entry& entry : gradient(graph, head, *weights))
    graph.outputs.push_back(std::move(entry));
  return IndexedGraph(std::move(graph));
}

TEST(Schedule, ListsEveryOperatorOnceAfterWhatItReads) {
  std::vector<ir::Entry> weights;
  const IndexedGraph graph = layers(5, &weights);
  const Schedule schedule = schedule_nodes(graph, 1);
  EXPECT_EQ(schedule.num_forward, 5);
  std::vector<bool> done(static_cast<std::size_t>(graph.num_nodes()));
  for (int n : graph.variables()) done[static_cast<std::size_t>(n)] = true;
  for (int n : schedule.nodes) {
    for (int entry : graph.inputs(n))
      EXPECT_TRUE(done[static_cast<std::size_t>(graph.node_of(entry))]);
    EXPECT_FALSE(done[static_cast<std::size_t>(n)]);
    done[static_cast<std::size_t>(n)] = true;
  }
  EXPECT_EQ(std::count(done.begin(), done.end(), false), 0);
}

class ScheduleOfGradients : public testing::TestWithParam<bool> {};

TEST_P(ScheduleOfGradients, TheLastWeightsGradientComesFirst) {
  std::vector<ir::Entry> weights;
  const IndexedGraph graph = layers(5, &weights, GetParam());
  const Schedule schedule = schedule_nodes(graph, 1);
  std::vector<std::ptrdiff_t> position;  // of the gradient of each weight
  for (std::size_t o = 1; o < graph.outputs().size(); ++o) {
    const int n = graph.node_of(graph.outputs()[o]);
    position.push_back(std::find(schedule.nodes.begin(), schedule.nodes.end(), n) -
                       schedule.nodes.begin());
  }
  EXPECT_TRUE(std::is_sorted(position.rbegin(), position.rend()));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutALoss, ScheduleOfGradients, testing::Bool());

TEST(Schedule, BranchesThatRunBesideOneAnotherAreInterleaved) {
  const Value x = variable("x");
  Value left = x, right = x;
  for (int i = 0; i < 3; ++i) {
    left = apply("relu", {left});
    right = apply("tanh", {right});
  }
  const IndexedGraph graph(graph_of({left + right}));
  const auto operators = [&](Pace pace) {
    std::string names;
    for (int n : schedule_nodes(graph, INT_MAX, pace).nodes) names += graph.node(n).op->name()[0];
    return names;
  };
  EXPECT_EQ(operators(Pace::kInTurn), "rrrttte");
  EXPECT_EQ(operators(Pace::kAbreast), "rtrtrte");
}

}  // namespace
}  // namespace mxnet
