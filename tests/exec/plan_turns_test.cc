// SPDX-License-Identifier: Apache-2.0
// Layers that take turns with a few images each: which do, and that they compute what all at once
// do.
#include <gtest/gtest.h>

#include "exec/network_fixture.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

// Of so many images, of which four are more than a turn needs.
Shape images(int64_t count, int64_t channels = 16) { return {count, channels, 192, 192}; }

Value pool(const Value& x, const char* size) {
  return apply("Pooling", {x}, {{"kernel", size}, {"stride", size}, {"pool_type", "max"}});
}

// A branch that is added to, and a small result.
Value residual(Network& net) {
  const Value x = relu(net.conv("c0", net.data(), 16, 32, 1, true));
  const Value branch = relu(net.conv("c1", x, 32, 16, 1));
  const Value y = relu(sum(net.conv("c2", branch, 16, 32, 1), x));
  return apply("FullyConnected", {pool(y, "(64,64)"), net.input("w", {4, 288})},
               {{"num_hidden", "4"}, {"no_bias", "True"}});
}

TEST(PlanTurns, LayersOfLargeImagesTakeThem) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net(images(8));
  const Network::Result result = net.check(residual(net));
  EXPECT_GE(result.steps(" in 2 turns"), 4) << result.plan;
  EXPECT_GE(result.steps("(4,32,192,192)"), 3) << result.plan;
  EXPECT_EQ(result.steps("(8,32,192,192)"), 0) << result.plan;
}

// A gate, and a sum of a layer of its own, between convolutions.
TEST(PlanTurns, ElementwiseLayersBetweenOthersTakeThem) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net(images(8));
  const Value x = net.conv("c0", net.data(), 16, 32, 1);
  const Value gate = apply("sigmoid", {net.conv("c1", x, 32, 32, 1)});
  const Value y = apply("LeakyReLU", {apply("elemwise_mul", {x, gate})}, {{"slope", "0.1"}});
  const Network::Result result = net.check(pool(net.conv("c2", y, 32, 16, 1), "(8,8)") + 1.0);
  EXPECT_EQ(result.steps("(8,32,192,192)"), 0) << result.plan;
  EXPECT_GE(result.steps(" in 2 turns"), 5) << result.plan;
}

TEST(PlanTurns, ChangedParametersAreSeenByAllTurns) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net(images(8));
  const Value output = residual(net);
  Executor executor = net.bind(graph_of({output}));
  executor.forward(false);
  const Values before = values_of(executor.outputs()[0]);
  NDArray& weight = net.array("c1_weight");
  array_of(Values(static_cast<std::size_t>(weight.size()), 0.5F), weight.shape()).copy_to(weight);
  executor.forward(false);
  const Values after = values_of(executor.outputs()[0]);
  EXPECT_NE(after, before);
  const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
  Network::expect_near(after, net.run(output).values);
}

// What is made in turns and read behind them, the images themselves among it, is whole.
TEST(PlanTurns, ValuesThatAreNeededLaterAreThereAsAWhole) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net(images(8));
  const Value x = relu(net.conv("c0", net.data(), 16, 16, 1));
  const Value y = relu(net.conv("c1", x, 16, 16, 1));
  const Value z = relu(net.conv("c2", pool(sum(net.conv("c3", y, 16, 16, 1), x), "(2,2)"), 16, 16));
  const Value late = pool(sum(apply("tanh", {x}), net.data()), "(2,2)");
  const Network::Result result = net.check(pool(sum(z, late), "(8,8)"));
  EXPECT_GE(result.steps(" in 2 turns"), 2) << result.plan;
}

// What is read for its shape alone needs no more memory than within the turns.
TEST(PlanTurns, ValuesOfWhichOnlyTheShapeIsNeededLaterStayParts) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net(images(8));
  const Value x = relu(net.conv("c0", net.data(), 16, 32, 1));
  const Value y = pool(relu(net.conv("c1", x, 32, 32, 1)), "(8,8)");
  const Network::Result result =
      net.check(apply("slice_like", {apply("tanh", {y}), x}, {{"axes", "(0,1)"}}));
  EXPECT_GE(result.steps(" in 2 turns"), 4) << result.plan;
}

// As in trackers, which look for the maps of one image in another.
TEST(PlanTurns, MapsThatAreWeightsOfALaterLayerAreWhole) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net(images(8));
  const Value wanted = relu(net.conv("w0", net.input("wanted", images(8)), 16, 32, 1));
  const Value x = relu(net.conv("c0", net.data(), 16, 32, 1));
  const Value found =
      apply("Convolution", {x, pool(relu(net.conv("w1", wanted, 32, 32, 1)), "(64,64)")},
            {{"kernel", "(3,3)"}, {"num_filter", "8"}, {"no_bias", "True"}});
  const Network::Result result = net.check(pool(relu(found), "(19,19)") + 1.0);
  EXPECT_GE(result.steps(" in 2 turns"), 4) << result.plan;
}

TEST(PlanTurns, SmallImagesFewImagesAndPrimeNumbersOfThemHaveNone) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  for (const Shape& data : {Shape{8, 16, 64, 64}, images(7), images(4)}) {
    Network net(data);
    const Value x = relu(net.conv("c0", net.data(), 16, 32, 1));
    const Value y = pool(relu(net.conv("c1", x, 32, 32, 1)), "(32,32)");
    EXPECT_EQ(net.run(y + 1.0).steps(" turns"), 0) << to_string(data);
  }
}

TEST(PlanTurns, OperatorsThatAreOperationsOfTheEngineOneByOneHaveNone) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  const Setting apart("MXNET_EXEC_BULK_EXEC_INFERENCE", "0");
  Network net(images(8));
  EXPECT_EQ(net.run(residual(net)).steps(" turns"), 0);
}

}  // namespace
}  // namespace mxnet
