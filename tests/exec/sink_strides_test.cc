// SPDX-License-Identifier: Apache-2.0
// Steps of 1x1 convolutions move to the layers before them, which then compute less and give the
// same.
#include <gtest/gtest.h>

#include "exec/network_fixture.h"

namespace mxnet {
namespace {

// Without padding unless the kernel is 3x3.
Value conv(Network& net, const std::string& name, const Value& in, int64_t from, int64_t to,
           int kernel, const char* stride) {
  const std::string k = std::to_string(kernel);
  return named(name,
               apply("Convolution", {in, net.input(name + "_weight", {to, from, kernel, kernel})},
                     {{"kernel", "(" + k + "," + k + ")"},
                      {"pad", kernel == 3 ? "(1,1)" : "(0,0)"},
                      {"stride", stride},
                      {"num_filter", std::to_string(to)},
                      {"no_bias", "True"}}));
}

// The end of a stage and the beginning of the next one, on images of odd sizes.
class Stage {
 public:
  explicit Stage(const char* left = "(2,2)", const char* right = "(2,2)", int kernel = 1) {
    const Value x = relu(conv(net, "x", net.data(), 8, 32, 3, "(1,1)"));
    const Value a = relu(conv(net, "a", x, 32, 16, 1, "(1,1)"));
    const Value b = relu(net.batch_norm("bn", conv(net, "b", a, 16, 16, 3, "(1,1)"), 16));
    end = relu(sum(conv(net, "c", b, 16, 32, 1, "(1,1)"), x));
    next = sum(conv(net, "left", end, 32, 32, kernel, left),
               conv(net, "right", end, 32, 32, 1, right));
  }
  Network net{{2, 8, 13, 10}};
  Value end, next;
};

TEST(SinkStrides, GoAsFarAsTheyCan) {
  Stage stage;
  const Network::Result result = stage.net.check(stage.next);
  EXPECT_EQ(result.steps("-> (2,32,13,10)"), 1) << "what the sum adds is whole: " << result.plan;
  EXPECT_EQ(result.steps("-> (2,16,13,10)"), 1) << "a 3x3 layer reads all pixels: " << result.plan;
  EXPECT_EQ(result.steps("-> (2,16,7,5)"), 1) << "and makes those that count: " << result.plan;
  EXPECT_EQ(result.steps("(Pooling) [onednn]"), 1) << result.plan;
}

TEST(SinkStrides, StepsOfOneAxisMoveToo) {
  Stage stage("(1,3)", "(1,3)");
  const Network::Result result = stage.net.check(stage.next);
  EXPECT_EQ(result.steps("-> (2,16,13,4)"), 1) << result.plan;
}

TEST(SinkStrides, NothingIsLeftOutThatSomebodyReads) {
  const auto whole = [](Stage stage, bool shows_end = false) {
    const Value pooled = apply("Pooling", {stage.end}, {{"kernel", "(1,1)"}, {"stride", "(2,2)"}});
    const Network::Result result =
        stage.net.check(shows_end ? sum(stage.next, pooled) : stage.next);
    return result.steps("(16,) -> (2,16,13,10)") == 1;  // of the normalised layer
  };
  EXPECT_TRUE(whole(Stage("(1,1)", "(1,1)"))) << "no steps";
  EXPECT_TRUE(whole(Stage("(2,2)", "(2,2)", 3))) << "a larger kernel";
  EXPECT_TRUE(whole(Stage(), true)) << "another operator";
}

TEST(SinkStrides, StepsThatDifferStay) {
  Network net({1, 16, 12, 12});
  const Value x = relu(conv(net, "x", net.data(), 16, 32, 3, "(1,1)"));
  const Value a = conv(net, "a", x, 32, 16, 1, "(2,2)"), b = conv(net, "b", x, 32, 16, 1, "(3,3)");
  const auto mean = [](const Value& v) {
    return apply("Pooling", {v}, {{"global_pool", "True"}, {"pool_type", "avg"}});
  };
  EXPECT_EQ(net.check(sum(mean(a), mean(b))).steps("-> (1,32,12,12)"), 1);
}

TEST(SinkStrides, ResultsOfTheNetworkAreWhole) {
  Network net({1, 16, 12, 12});
  const Value x = relu(conv(net, "x", net.data(), 16, 32, 3, "(1,1)"));
  Executor executor = net.bind(graph_of({x, conv(net, "a", x, 32, 16, 1, "(2,2)")}));
  executor.forward(false);
  EXPECT_EQ(executor.outputs()[0].shape(), (Shape{1, 32, 12, 12}));
  const Values fused[] = {values_of(executor.outputs()[0]), values_of(executor.outputs()[1])};
  const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
  Executor plain = net.bind(executor.graph().graph());
  plain.forward(false);
  for (std::size_t o : {0u, 1u}) Network::expect_near(fused[o], values_of(plain.outputs()[o]));
}

}  // namespace
}  // namespace mxnet
