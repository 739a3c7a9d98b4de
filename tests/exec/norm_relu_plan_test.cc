// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with relu behind it in plans that train, and normalisation by given
// statistics in calls that are recorded without training.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "exec/cached_op.h"
#include "exec/network_fixture.h"

namespace mxnet {
namespace {

constexpr const char* kFused = "(_contrib_BatchNormWithReLU) [onednn]";
constexpr const char* kFusedBack = "(_backward_contrib_BatchNormWithReLU) [onednn]";

TEST(NormRelu, IsOneStepEachWay) {
  for (const char* fix_gamma : {"False", "True"}) {
    Network net({3, 16, 9, 7});
    const Value norm = net.batch_norm("bn", net.conv("c0", net.data(), 16, 32), 32, fix_gamma);
    const std::string plan = net.check_training(net.conv("c1", relu(norm), 32, 16, 1));
    EXPECT_EQ(count(plan, kFused), 1) << plan;
    EXPECT_EQ(count(plan, kFusedBack), 1) << plan;
    EXPECT_EQ(count(plan, "Activation"), 0) << plan;
  }
}

TEST(NormRelu, WhatManyReadIsFusedBehindReluOnly) {
  Network net({2, 16, 8, 8});
  const Value shown = net.batch_norm("shown", net.conv("c0", net.data(), 16, 32), 32);
  const Value hidden = net.batch_norm("hidden", net.conv("c1", relu(shown), 32, 32), 32);
  const Value many = relu(hidden);
  const Value out = sum(sum(net.conv("c2", many, 32, 32, 1), many), shown);
  const std::string plan = net.check_training(out);
  EXPECT_EQ(count(plan, kFused), 1) << plan;
  EXPECT_EQ(count(plan, kFusedBack), 1) << plan;
  EXPECT_EQ(count(plan, "(BatchNorm) [onednn]"), 1) << plan;
}

TEST(NormRelu, OtherActivationsAndStatisticsStayApart) {
  Network net({2, 16, 8, 8});
  const Value soft =
      apply("Activation", {net.batch_norm("bn0", net.conv("c0", net.data(), 16, 32), 32)},
            {{"act_type", "tanh"}});
  const Value given = apply("BatchNorm",
                            {net.conv("c2", soft, 32, 32), net.input("g", {32}),
                             net.input("b", {32}), net.input("m", {32}), net.input("v", {32}, 0.5)},
                            {{"use_global_stats", "True"}, {"fix_gamma", "False"}});
  EXPECT_EQ(count(net.check_training(relu(given)), "BatchNormWithReLU"), 0);
}

TEST(NormRelu, BlocksThatAreNotFullAreNoOther) {
  Network net({2, 16, 9, 7});
  const Value a = relu(net.batch_norm("bn0", net.conv("c0", net.data(), 16, 24), 24));
  const Value b = relu(net.batch_norm("bn1", net.conv("c1", a, 24, 13, 1), 13));
  const std::string plan = net.check_training(net.conv("c2", b, 13, 24, 1));
  EXPECT_EQ(count(plan, kFused), 2) << plan;
  EXPECT_EQ(count(plan, kFusedBack), 2) << plan;
}

TEST(NormRelu, RowsStayApart) {
  const auto [channels, groups] = Network::unblocked();
  Network net({2, channels, 9, 7});
  const Value rows = net.conv("c0", net.data(), channels, channels, 3, false, groups);
  const Value norm = net.batch_norm("bn", rows, channels);
  const std::string plan = net.check_training(net.conv("c1", relu(norm), channels, 16, 1));
  EXPECT_EQ(count(plan, "BatchNormWithReLU"), 0) << plan;
}

TEST(NormRelu, SumsAndJoinsMayBeInFront) {
  Network net({2, 16, 8, 8});
  const Value a = net.conv("c0", net.data(), 16, 32), b = net.conv("c1", a, 32, 32);
  const Value added = relu(net.batch_norm("bn0", sum(a, b), 32));
  const Value joined =
      apply("Concat", {net.conv("c2", added, 32, 32), b}, {{"num_args", "2"}, {"dim", "1"}});
  const std::string plan =
      net.check_training(net.conv("c3", relu(net.batch_norm("bn1", joined, 64)), 64, 16, 1));
  EXPECT_EQ(count(plan, kFused), 2) << plan;
  EXPECT_EQ(count(plan, kFusedBack), 2) << plan;
}

TEST(NormRelu, EachRowKeepsThemApart) {
  Network net({3, 16, 9, 7});
  const Value norm = net.batch_norm("bn", net.conv("c0", net.data(), 16, 32), 32);
  const Value output = net.conv("c1", relu(norm), 32, 16, 1);
  for (const char* row : {"MXNET_DISABLE_ONEDNN_BN_RELU_OPT", "MXNET_DISABLE_ONEDNN_FUSE_BN_RELU",
                          "MXNET_DISABLE_MKLDNN_BN_RELU_OPT"}) {
    const Setting off(row, "1");
    const std::string plan = net.check_training(output);
    EXPECT_EQ(count(plan, "BatchNormWithReLU"), 0) << row << plan;
    EXPECT_EQ(count(plan, "(BatchNorm) [onednn]"), 1) << row << plan;
  }
  EXPECT_EQ(count(net.check_training(output), kFused), 1);
}

TEST(NormRelu, RecomputationTakesThemApart) {
  const Setting mirror("MXNET_BACKWARD_DO_MIRROR", "1");
  Network net({2, 16, 8, 8});
  const Value norm = net.batch_norm("bn", net.conv("c0", net.data(), 16, 32), 32);
  EXPECT_EQ(count(net.check_training(net.conv("c1", relu(norm), 32, 16, 1)), "BatchNormWithReLU"),
            0);
}

TEST(NormRelu, FollowsConvolutionsOfEachChannelByItself) {
  Network net({2, 16, 8, 8});
  const Value depthwise = net.conv("c0", net.conv("c", net.data(), 16, 32), 32, 32, 3, false, 32);
  const Value norm = net.batch_norm("bn", depthwise, 32);
  const std::string plan = net.check_training(net.conv("c1", relu(norm), 32, 16, 1));
  EXPECT_EQ(count(plan, "(_contrib_BatchNormWithReLU) [onednn]"), 1) << plan;
}

TEST(NormRelu, ImagesInRowsMayHaveGradientsInBlocks) {
  Network net({2, 16, 8, 8});
  const auto groups = static_cast<int>(64 / Network::block());  // of half a block
  const Value grouped = net.conv("c0", net.conv("c", net.data(), 16, 32), 32, 32, 3, false, groups);
  const Value apart = relu(net.batch_norm("bn", grouped, 32));
  EXPECT_EQ(count(net.check_training(net.conv("c1", apart, 32, 16, 1)), "BatchNormWithReLU"), 0);
  const Value one = apply("_contrib_BatchNormWithReLU",
                          {grouped, net.input("g", {32}), net.input("b", {32}),
                           net.input("m", {32}), net.input("v", {32}, 0.5)},
                          {{"fix_gamma", "False"}});
  const std::string plan = net.check_training(net.conv("c2", one, 32, 16, 1));
  EXPECT_EQ(count(plan, "(_contrib_BatchNormWithReLU) [plain]"), 1) << plan;
}

TEST(NormRelu, NaNStaysNaN) {
  Network net({2, 16, 4, 4});
  const Value norm = net.batch_norm("bn", net.conv("c0", net.data(), 16, 32), 32);
  const Value out = relu(norm);
  NDArray& weight = net.array("c0_weight");
  Values values = values_of(weight);
  values[5 * 16 * 9] = std::numeric_limits<float>::quiet_NaN();  // the sixth filter's first
  array_of(values, weight.shape()).copy_to(weight);
  NDArray& beta = net.array("bn_beta");
  Values shifts = values_of(beta);
  shifts[20] = std::numeric_limits<float>::quiet_NaN();
  array_of(shifts, beta.shape()).copy_to(beta);
  std::string plan;
  const std::vector<Values> fused = net.train(out, &plan);
  ASSERT_EQ(count(plan, kFused), 1) << plan;
  const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
  const std::vector<Values> plain = net.train(out);
  ASSERT_EQ(fused[0].size(), plain[0].size());
  int nan = 0;
  for (std::size_t i = 0; i < plain[0].size(); ++i) {
    ASSERT_EQ(std::isnan(fused[0][i]), std::isnan(plain[0][i])) << i;
    nan += std::isnan(plain[0][i]);
  }
  EXPECT_EQ(nan, 2 * 2 * 16) << "two channels of two images";
}

// A call by a cached op that is recorded in one mode or the other: results, gradients of all
// inputs, and the states that it leaves.
std::vector<Values> recorded(Network& net, const Value& output, bool training) {
  const ir::Graph graph = graph_of({output});
  CachedOp op(graph, CachedOpFlags());
  std::vector<NDArray> inputs = net.inputs(graph);
  std::vector<NDArray*> in;
  std::vector<NDArray> buffers;
  for (NDArray& input : inputs) {
    buffers.push_back(attach_grad(input));
    in.push_back(&input);
  }
  NDArray result;
  NDArray* out = &result;
  {
    const AutogradScope scope({.recording = true, .training = training});
    op.invoke(in, {&out, 1}, Device::cpu());
  }
  backward_from(result);
  std::vector<Values> values{values_of(result)};
  for (const NDArray& buffer : buffers) values.push_back(values_of(buffer));
  for (const NDArray& input : inputs) values.push_back(values_of(input));
  return values;
}

TEST(RecordedInference, GivenStatisticsPassTheirGradientsInBlocks) {
  Network net({2, 16, 8, 8});
  const Value a = relu(net.batch_norm("bn0", net.conv("c0", net.data(), 16, 32), 32));
  const Value b = net.batch_norm("bn1", net.conv("c1", a, 32, 32), 32, "True");
  const Value joined = apply("Concat", {relu(b), a}, {{"num_args", "2"}, {"dim", "1"}});
  const Value out = net.conv("c2", joined, 64, 16, 1);
  const std::vector<Values> laid_out = recorded(net, out, false);
  const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
  const std::vector<Values> plain = recorded(net, out, false);
  ASSERT_EQ(laid_out.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    SCOPED_TRACE(i);
    Network::expect_near(laid_out[i], plain[i], 1e-4);
  }
}

TEST(RecordedInference, DiffersFromTraining) {
  Network net({2, 16, 8, 8});
  const Value out = net.batch_norm("bn0", net.conv("c0", net.data(), 16, 32), 32);
  EXPECT_NE(recorded(net, out, false)[0], recorded(net, out, true)[0]);
}

}  // namespace
}  // namespace mxnet
