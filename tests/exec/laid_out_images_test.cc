// SPDX-License-Identifier: Apache-2.0
// Images in channel blocks that are not full, Winograd's method in training, and deconvolutions
// among the layers.
#include <gtest/gtest.h>

#include "exec/network_fixture.h"
#include "op/nn/winograd.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

TEST(LaidOutTraining, ImagesStayInBlocksThatAreNotFull) {
  Network net({2, 3, 12, 12});
  const Value x = relu(net.batch_norm("bn0", net.conv("c0", net.data(), 3, 28), 28));
  const Value a = relu(net.batch_norm("bn1", net.conv("c1", x, 28, 28), 28));
  const Value product = apply("elemwise_mul", {apply("tanh", {a}), a});
  const std::string plan = net.check_training(net.conv("c2", sum(product, x), 28, 9));
  EXPECT_EQ(count(plan, "(Convolution) [plain]"), 0) << plan;
  EXPECT_EQ(count(plan, "relu_reorder"), 0) << plan;
  EXPECT_EQ(count(plan, "bn0_reorder"), 0) << plan;
}

TEST(LaidOutTraining, WhatMakesZerosOfPaddingNonzeroRunsOnPlainRows) {
  Network net({2, 16, 12, 12});
  const Value x = net.conv("c0", net.data(), 16, 28);
  const Value gate = apply("sigmoid", {net.batch_norm("bn0", x, 28)});
  const Value shifted = apply("elemwise_mul", {gate, x}) + 1.0;
  const std::string plan = net.check_training(net.conv("c1", shifted, 28, 28));
  EXPECT_GE(count(plan, "bn0_reorder"), 1) << plan;
}

// --- Winograd ------------------------------------------------------------------------------------

TEST(LaidOutTraining, WinogradGivesTheMapAndAllGradients) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  Network net({2, 32, 32, 32});
  const Value y = net.conv("c1", net.conv("c0", net.data(), 32, 48, 3, true), 48, 32);
  const std::string plan = net.check_training(y);
  EXPECT_EQ(count(plan, "(Convolution) [winograd]"), 2) << plan;
  EXPECT_EQ(count(plan, "(_backward_Convolution) [winograd]"), 2) << plan;
}

TEST(LaidOutTraining, WinogradBeginsWhereTilesPayForTheWeights) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  // Maps of 7 x 7 pixels are four tiles each.
  for (const auto& [batch, layers] : {std::pair{8, 2}, {7, 0}}) {
    Network net({batch, 48, 7, 7});
    const Value y = net.conv("c1", net.conv("c0", net.data(), 48, 80), 80, 32);
    const std::string plan = net.check_training(y);
    EXPECT_EQ(count(plan, "(Convolution) [winograd]"), layers) << plan;
    EXPECT_EQ(count(plan, "(_backward_Convolution) [winograd]"), layers) << plan;
  }
}

// --- deconvolutions ------------------------------------------------------------------------------

struct Deconvolution {
  int64_t from, to;
  int kernel = 4, stride = 2, pad = 1;
  bool bias = false;
  int groups = 1;
};

Value deconvolve(Network& net, const std::string& name, const Value& in, const Deconvolution& d) {
  std::vector<Value> inputs{
      in, net.input(name + "_weight", {d.from, d.to / d.groups, d.kernel, d.kernel})};
  if (d.bias) inputs.push_back(net.input(name + "_bias", {d.to}));
  const auto both = [](int n) { return "(" + std::to_string(n) + "," + std::to_string(n) + ")"; };
  return named(name, apply("Deconvolution", inputs,
                           {{"kernel", both(d.kernel)},
                            {"stride", both(d.stride)},
                            {"pad", both(d.pad)},
                            {"num_filter", std::to_string(d.to)},
                            {"num_group", std::to_string(d.groups)},
                            {"no_bias", d.bias ? "False" : "True"}}));
}

// Biases before a normalisation have no gradient.
Value generator(Network& net, bool bias) {
  const Value a = deconvolve(net, "first", net.data(), {32, 48});
  const Value b = deconvolve(net, "second", relu(net.batch_norm("bn0", a, 48)), {48, 20});
  return deconvolve(net, "third", relu(net.batch_norm("bn1", b, 20)), {20, 3, 4, 2, 1, bias});
}

class LaidOutDeconvolutions : public ::testing::TestWithParam<bool> {};  // with a bias

TEST_P(LaidOutDeconvolutions, InferenceConvertsNoImageBetweenThem) {
  Network net({2, 32, 3, 3});
  const Network::Result result = net.check(generator(net, GetParam()));
  EXPECT_EQ(result.steps("(Deconvolution) [onednn]"), 3) << result.plan;
  EXPECT_EQ(result.steps("bn0_reorder") + result.steps("first_reorder"), 0) << result.plan;
}

TEST_P(LaidOutDeconvolutions, TrainingConvertsNoImageBetweenThem) {
  Network net({2, 32, 3, 3});
  const std::string plan = net.check_training(generator(net, GetParam()));
  EXPECT_EQ(count(plan, "(_backward_Deconvolution) [onednn]"), 3) << plan;
  EXPECT_EQ(count(plan, "bn0_reorder") + count(plan, "first_reorder"), 0) << plan;
}
INSTANTIATE_TEST_SUITE_P(, LaidOutDeconvolutions, ::testing::Bool());

TEST(LaidOutTraining, DeconvolutionsOfAllKindsAgree) {
  const Deconvolution kinds[] = {
      {32, 16, 3, 1, 1, true},    {16, 32, 2, 2, 0, true},      {17, 18, 3, 2, 0, false},
      {32, 32, 3, 2, 1, true, 2}, {32, 32, 3, 1, 1, false, 32}, {16, 2, 5, 3, 2, true},
      {16, 6, 3, 1, 1, true},     {3, 16, 4, 2, 1, true},
  };
  for (const Deconvolution& kind : kinds) {
    SCOPED_TRACE(std::to_string(kind.from) + " to " + std::to_string(kind.to));
    Network net({2, 16, 5, 5});
    const Value x = relu(net.conv("x", net.data(), 16, kind.from));
    const Value output = net.conv("y", deconvolve(net, "d", x, kind), kind.to, 16);
    net.check_training(output);
    net.check(output);
  }
}

TEST(LaidOutDeconvolution, ChangedWeightsAreSeenAtTheNextRun) {
  Network net({2, 16, 5, 5});
  Executor executor =
      net.bind(graph_of({deconvolve(net, "d", net.data(), {16, 16, 3, 1, 1, true})}));
  executor.forward(false);
  NDArray& weight = net.array("d_weight");
  array_of(Values(16 * 16 * 9, 0.0F), weight.shape()).copy_to(weight);
  executor.forward(false);
  const Values bias = values_of(net.array("d_bias")), now = values_of(executor.outputs()[0]);
  for (std::size_t i = 0; i < now.size(); ++i) EXPECT_EQ(now[i], bias[i / 25 % 16]);
}

}  // namespace
}  // namespace mxnet
