// SPDX-License-Identifier: Apache-2.0
// Plans of networks over time and over volumes lay their values out as those over images do.
#include <gtest/gtest.h>

#include "exec/network_fixture.h"
#include "op/fused/weight_rows.h"

namespace mxnet {
namespace {

// The number of dimensions that windows move in.
class SpatialPlan : public testing::TestWithParam<int> {
 protected:
  // "(2,2,2)"
  static std::string all(int64_t number) {
    std::string text = "(";
    for (int i = 0; i < GetParam(); ++i) text += std::to_string(number) + ",";
    return text + ")";
  }
  static Shape shape(int64_t first, int64_t second, int64_t size) {
    Shape shape{first, second};
    for (int i = 0; i < GetParam(); ++i) shape.push_back(size);
    return shape;
  }
  static Value conv(Network& net, const std::string& name, const Value& x, int64_t from, int64_t to,
                    Attrs attrs = {}, int64_t groups = 1) {
    std::vector<Value> inputs{x, net.input(name + "_weight", shape(to, from / groups, 3))};
    if (std::ranges::find(attrs, kNoBias) == attrs.end())
      inputs.push_back(net.input(name + "_bias", {to}));
    for (const Attr& usual : Attrs{{"kernel", all(3)},
                                   {"pad", all(1)},
                                   {"num_filter", std::to_string(to)},
                                   {"num_group", std::to_string(groups)}})
      if (std::ranges::find(attrs, usual.first, &Attr::first) == attrs.end())
        attrs.push_back(usual);
    return named(name, apply("Convolution", inputs, attrs));
  }
  static Value pooled(const Value& x, const Attrs& more) {
    Attrs attrs{{"kernel", all(3)}, {"stride", all(2)}};
    attrs.insert(attrs.end(), more.begin(), more.end());
    return apply("Pooling", {x}, attrs);
  }

  using Attr = Attrs::value_type;
  // Behind it comes a normalisation, which takes any bias away again: its gradient is rounding.
  static inline const Attr kNoBias{"no_bias", "True"};
};

TEST_P(SpatialPlan, ValuesStayInBlocksOnTheWayBack) {
  Network net(shape(2, 3, 9));
  const Value x = relu(net.batch_norm("bn0", conv(net, "c0", net.data(), 3, 32, {kNoBias}), 32));
  const Value y = net.batch_norm("bn1", conv(net, "c1", x, 32, 32, {kNoBias}), 32);
  const std::string plan = net.check_training(relu(sum(y, x)));
  EXPECT_EQ(count(plan, "(_backward_contrib_BatchNormWithReLU) [onednn]"), 1) << plan;
  EXPECT_EQ(count(plan, "(_backward_BatchNorm) [onednn]"), 1) << plan;
  EXPECT_EQ(count(plan, "relu_reorder"), 0) << plan;
}

TEST_P(SpatialPlan, GradientsOfWeightsComeBackByOneLoop) {
  if (weight_square() == 0) GTEST_SKIP() << "needs AVX2";
  Network net(shape(2, 32, 7));
  const std::string plan = net.check_training(conv(net, "c", net.data(), 32, 48));
  EXPECT_EQ(count(plan, "c_backward_reorder(_sg_onednn_reorder) [squares]"), 1) << plan;
}

// Activations in front make equal numbers (zeros) in most windows.
TEST_P(SpatialPlan, GradientsOfMaximaStayInBlocks) {
  for (const auto& [stride, pad, convention] :
       {std::tuple{1, 1, "valid"}, {2, 1, "valid"}, {3, 0, "full"}, {5, 0, "valid"}}) {
    SCOPED_TRACE(stride);
    Network net(shape(2, 16, 11));
    const Value x = relu(conv(net, "c0", net.data(), 16, 32));
    const Attrs attrs{{"kernel", all(3)},
                      {"stride", all(stride)},
                      {"pad", all(pad)},
                      {"pooling_convention", convention}};
    const std::string plan =
        net.check_training(conv(net, "c1", apply("Pooling", {x}, attrs), 32, 16));
    EXPECT_EQ(count(plan, "(_backward_Pooling_max) [blocks]"), 1) << plan;
  }
}

TEST_P(SpatialPlan, GradientsOfAveragesStayInBlocks) {
  Network net(shape(2, 16, 11));
  const Value x = relu(conv(net, "c0", net.data(), 16, 32));
  const Attrs attrs{{"kernel", all(3)}, {"stride", all(2)}, {"pad", all(1)}, {"pool_type", "avg"}};
  const std::string plan =
      net.check_training(conv(net, "c1", apply("Pooling", {x}, attrs), 32, 16));
  EXPECT_EQ(count(plan, "(_backward_Pooling_sum) [onednn]"), 1) << plan;
  EXPECT_EQ(count(plan, "_activation0_reorder"), 0) << plan;
}

TEST_P(SpatialPlan, NormalisedNaNComesThroughRelu) {
  Network net(shape(2, 16, 5));
  const Value y = relu(net.batch_norm("bn", conv(net, "c", net.data(), 16, 32), 32));
  Values gamma(32, 1.0F);
  gamma[17] = NAN;
  array_of(gamma, {32}).copy_to(net.array("bn_gamma"));
  const Values result = net.train(y)[0];
  const std::size_t pixels = result.size() / 64;
  for (std::size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(std::isnan(result[i]), i / pixels % 32 == 17) << i;
}

TEST_P(SpatialPlan, OddChannelsGroupsStepsAndDilationAgree) {
  Network net(shape(2, 16, 11));
  const Value odd = relu(conv(net, "odd", net.data(), 16, 19));
  const Value few = relu(conv(net, "few", odd, 19, 5));
  const Value wide = conv(net, "wide", few, 5, 32, {{"dilate", all(2)}, {"pad", all(2)}});
  const Value depthwise = conv(net, "dw", relu(wide), 32, 32, {{"stride", all(2)}}, 32);
  const Value groups = relu(conv(net, "groups", depthwise, 32, 64, {}, 2));
  net.check_training(conv(net, "last", groups, 64, 1));
  net.check(conv(net, "last2", groups, 64, 16));
}

TEST_P(SpatialPlan, Inference) {
  Network net(shape(2, 3, 9));
  const Value x = relu(net.batch_norm("bn0", conv(net, "c0", net.data(), 3, 32), 32));
  const Value y = relu(sum(net.batch_norm("bn1", conv(net, "c1", x, 32, 32), 32), x));
  const Value pool = pooled(y, {});
  const Network::Result result = net.check(conv(net, "c2", pool, 32, 16));
  EXPECT_EQ(result.steps("(_sg_onednn_conv)"), 2) << result.plan;
  EXPECT_EQ(result.steps("(_sg_onednn_conv_add)"), 1) << result.plan;
}

INSTANTIATE_TEST_SUITE_P(Of, SpatialPlan, testing::Values(1, 3));

TEST(VolumePlan, DeconvolutionsStayInBlocks) {
  Network net({2, 16, 4, 5, 6});
  const Value x = relu(
      net.batch_norm("bn0",
                     apply("Deconvolution", {net.data(), net.input("d0", {16, 32, 2, 2, 2})},
                           {{"kernel", "(2,2,2)"}, {"stride", "(2,2,2)"}, {"num_filter", "32"}}),
                     32));
  const Attrs attrs{
      {"kernel", "(3,3,3)"}, {"pad", "(1,1,1)"}, {"num_filter", "16"}, {"no_bias", "False"}};
  const Value y =
      apply("Deconvolution", {x, net.input("d1", {32, 16, 3, 3, 3}), net.input("b1", {16})}, attrs);
  const std::string plan = net.check_training(y);
  EXPECT_EQ(count(plan, "(_backward_contrib_BatchNormWithReLU) [onednn]"), 1) << plan;
  net.check(y);
}

}  // namespace
}  // namespace mxnet
