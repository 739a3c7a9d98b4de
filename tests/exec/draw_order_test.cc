// SPDX-License-Identifier: Apache-2.0
// Those who draw random numbers do so in the order of the graph, whatever a plan makes of it: drawn
// graphs against their operators one by one.
#include <gtest/gtest.h>

#include "exec/plan_fixture.h"
#include "op/generators/random_streams.h"

namespace mxnet {
namespace {

Value uniform() { return apply("_random_uniform", {}, {{"shape", "(4, 4)"}}); }

// Draws in branches, and what passes take together.
ir::Graph drawn_graph(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Value> values{variable("x"), variable("y")};
  const auto any = [&] {
    return values[values.size() - 1 - random() % std::min<std::size_t>(values.size(), 4)];
  };
  for (int i = 0; i < 18; ++i) {
    const Value a = any(), b = any();
    switch (random() % 8) {
      case 0:
      case 1:
        values.push_back(apply("Dropout", {a}, {{"p", "0.5"}}));
        break;
      case 2:
        values.push_back(apply("elemwise_add", {uniform(), a}));
        break;
      case 3:
        values.push_back(apply("dot", {a, variable("w")}));
        break;
      case 4:
        values.push_back(apply("tanh", {a}));
        break;
      case 5:
        values.push_back(apply("softmax", {a}));
        break;
      default:
        values.push_back(apply("elemwise_add", {a, b}));
    }
  }
  return graph_of({values.back(), values[2 + random() % (values.size() - 3)]});
}

void check(bool training) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const ir::Graph graph = drawn_graph(seed);
    std::mt19937 random(seed);
    std::vector<NDArray> args;
    for (std::size_t i = 0; i < IndexedGraph(graph).arguments().size(); ++i)
      args.push_back(random_array({4, 4}, random));
    RandomStreams::seed_all(seed);
    const std::vector<Values> expected = run_eagerly(graph, args, training).outputs;
    RandomStreams::seed_all(seed);
    Executor executor(graph, Device::cpu(),
                      bind_arrays(args, training ? Request::kWrite : Request::kNull));
    executor.forward(training);
    for (std::size_t o = 0; o < expected.size(); ++o) {
      const Values values = values_of(executor.outputs()[o]);
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[o][i], 1e-4) << "seed " << seed << ", output " << o;
    }
  }
}

class DrawOrder : public testing::TestWithParam<bool> {};

TEST_P(DrawOrder, IsThatOfTheGraph) { check(GetParam()); }
TEST_P(DrawOrder, IsThatOfTheGraphWithoutFusions) {
  const Setting fusion("MXNET_USE_FUSION", "0");
  check(GetParam());
}
TEST_P(DrawOrder, IsThatOfTheGraphWhereBranchesRunBesideOneAnother) {
  const Setting both("MXNET_EXEC_NUM_TEMP", "3");
  check(GetParam());
}
TEST_P(DrawOrder, IsThatOfTheGraphWhereValuesAreComputedAgain) {
  const Setting mirror("MXNET_BACKWARD_DO_MIRROR", "1");
  check(GetParam());
}
INSTANTIATE_TEST_SUITE_P(InferenceAndTraining, DrawOrder, testing::Bool());

}  // namespace
}  // namespace mxnet
