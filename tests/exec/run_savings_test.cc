// SPDX-License-Identifier: Apache-2.0
// Rows that save memory, on random graphs whose plans are run.
#include <random>
#include <vector>

#include "exec/plan_fixture.h"
#include "exec/plan_savings.h"

namespace mxnet {
namespace {

std::size_t training_bytes(Executor executor) {
  executor.forward(true);  // compiles
  return executor.pool()->bytes();
}

TEST(PlanSavings, OfRandomGraphs) {
  const unsigned seed = 77;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (std::size_t round = 0; round < 16 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const ir::Graph graph = random_graph(random);
    std::vector<NDArray> args;
    for (std::size_t i = 0; i < IndexedGraph(graph).arguments().size(); ++i)
      args.push_back(random_array({4, 4}, random));
    const auto bytes = [&] {
      return training_bytes(Executor(graph, Device::cpu(), bind_arrays(args, Request::kWrite)));
    };
    plan_savings::expect_savings(plan_savings::PlanBytes(bytes), round);
  }
}

}  // namespace
}  // namespace mxnet
