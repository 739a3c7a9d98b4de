// SPDX-License-Identifier: Apache-2.0
// Plans for inference: what is fused, in which layouts values lie, and that results are those of
// the graph as it was written, whatever happens to weights in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <regex>
#include <string>
#include <thread>

#include "exec/cached_op.h"
#include "exec/network_fixture.h"

namespace mxnet {
namespace {

TEST(FusedPlan, AResidualBlockIsAsManyStepsAsConvolutions) {
  Network net({1, 16, 9, 7});
  const Value x = relu(net.batch_norm("bn0", net.conv("c0", net.data(), 16, 32), 32));
  const Value a = relu(net.batch_norm("bn1", net.conv("c1", x, 32, 32, 1), 32, "True"));
  const Value b = net.batch_norm("bn2", net.conv("c2", a, 32, 32, 3, true), 32);
  const Network::Result result = net.check(relu(sum(b, x)));
  EXPECT_EQ(result.steps("_sg_onednn_conv"), 3) << result.plan;
  EXPECT_EQ(result.steps("_sg_onednn_conv_add"), 1) << result.plan;
  EXPECT_EQ(result.steps() - result.steps("_sg_onednn_reorder"), 3) << result.plan;
}

// Weights of more than a megabyte are multiplied out in parts, of groups where there are some;
// where no parts are whole blocks, all at once.
TEST(FusedPlan, LargeWeightsAreFoldedInParts) {
  const auto check = [](int64_t from, int64_t to, int kernel, int groups) {
    SCOPED_TRACE(testing::Message() << from << " to " << to << " in " << groups);
    Network net({1, from, 4, 3});
    const Value x = net.conv("c0", net.data(), from, to, kernel, true, groups);
    const Network::Result result = net.check(relu(net.batch_norm("bn0", x, to)));
    EXPECT_EQ(result.steps("_sg_onednn_conv"), 1) << result.plan;
  };
  check(1024, 512, 1, 1);
  check(512, 576, 1, 1);
  check(520, 520, 1, 1);
  check(160, 192, 3, 1);
  check(2048, 2048, 3, 128);
}

TEST(FusedPlan, SumsOfTwoConvolutionsAndOfBroadcastNames) {
  Network net({1, 16, 6, 6});
  const Value a = net.conv("a", net.data(), 16, 16), b = net.conv("b", net.data(), 16, 16, 1);
  EXPECT_EQ(net.check(relu(sum(a, b))).steps("_sg_onednn_conv_add"), 1);
  EXPECT_EQ(net.check(apply("broadcast_add", {a, b})).steps("_sg_onednn_conv_add"), 1);
}

TEST(FusedPlan, ASumWhoseOtherValueIsReadAgainLeavesItAsItIs) {
  Network net({2, 16, 6, 6});
  const Value x = relu(net.conv("c0", net.data(), 16, 16));
  const Value y = relu(sum(net.conv("c1", x, 16, 16), x));
  net.check(sum(y * 2.0, x));
}

TEST(FusedPlan, WhatOthersReadIsNotFusedAway) {
  Network net({2, 16, 6, 6});
  const Value conv = net.conv("c0", net.data(), 16, 16);
  const Value normed = net.batch_norm("bn0", conv, 16);
  const Network::Result result = net.check(sum(relu(normed), conv));
  EXPECT_EQ(result.steps("(BatchNorm)"), 1) << result.plan;
}

TEST(FusedPlan, EachActivationIsFusedAndKeptInItsLayoutWhereItIsNot) {
  using Attrs = std::vector<std::pair<std::string, std::string>>;
  const std::vector<std::pair<const char*, Attrs>> activations = {
      {"Activation", {{"act_type", "relu"}}},
      {"Activation", {{"act_type", "sigmoid"}}},
      {"Activation", {{"act_type", "tanh"}}},
      {"Activation", {{"act_type", "softrelu"}}},
      {"LeakyReLU", {{"act_type", "leaky"}, {"slope", "0.3"}}},
      {"LeakyReLU", {{"act_type", "elu"}, {"slope", "0.7"}}},
      {"LeakyReLU", {{"act_type", "gelu"}}},
      {"clip", {{"a_min", "-0.5"}, {"a_max", "0.7"}}},
      {"relu", {}},
      {"sigmoid", {}},
      {"tanh", {}}};
  for (const auto& [op, attrs] : activations) {
    SCOPED_TRACE(op + (attrs.empty() ? "" : " " + attrs[0].second));
    Network net({2, 5, 6, 6});
    const Value conv = net.conv("c0", net.data(), 5, 19, 3, true);
    const Network::Result fused = net.check(apply(op, {conv}, attrs));
    EXPECT_EQ(fused.steps() - fused.steps("_sg_onednn_reorder"), 1) << fused.plan;
    net.check(sum(apply(op, {conv}, attrs), conv));
  }
}

TEST(FusedPlan, PoolingConcatAndProductsKeepTheLayout) {
  Network net({2, 3, 12, 12});
  const Value x = relu(net.conv("c0", net.data(), 3, 32));
  const Value pool = apply("Pooling", {x}, {{"kernel", "(2,2)"}, {"stride", "(2,2)"}});
  const Value joined =
      apply("Concat", {net.conv("a", pool, 32, 16), net.conv("b", pool, 32, 32, 1), pool},
            {{"num_args", "3"}, {"dim", "1"}});
  const Value scaled = apply("elemwise_mul", {joined, relu(joined)});
  const Network::Result result = net.check(net.conv("d", scaled, 80, 16));
  EXPECT_LE(result.steps("_sg_onednn_reorder"), 1) << result.plan;
}

// Whether a plan has joins of its layouts, and the first part of each lies where the join does.
bool joins_in_place(const std::string& plan) {
  static const std::regex join(R"(\(Concat\) \[onednn\] \([\d,]*\)(@\d+).* -> \([\d,]*\)(@\d+)\n)");
  const std::sregex_iterator first(plan.begin(), plan.end(), join), last;
  return first != last &&
         std::all_of(first, last, [](const std::smatch& found) { return found[1] == found[2]; });
}

// One image: blocks of channels lie one behind the other, so that layers compute their parts where
// they are joined. With more images, or channels that fill no block, parts are copied.
TEST(FusedPlan, JoinsOfOneImageAgreeWithCopies) {
  for (const int images : {1, 2}) {
    for (const int channels : {16, 19}) {
      Network net({images, 3, 12, 12});
      const Value x = relu(net.conv("c0", net.data(), 3, 32));
      const Value a = net.conv("a", x, 32, channels, 1), b = relu(net.conv("b", x, 32, 48));
      const Value pool = apply("Pooling", {x}, {{"kernel", "(3,3)"}, {"pad", "(1,1)"}});
      const auto join = [](const std::vector<Value>& parts) {
        return apply("Concat", parts, {{"num_args", std::to_string(parts.size())}, {"dim", "1"}});
      };
      const Value small = join({a, pool}), large = join({small, b});
      // Parts and the smaller join are read again after the larger one.
      const Value last = net.conv("d", large, channels + 80, 16, 1);
      const Network::Result result =
          net.check(sum(last, net.conv("e", small, channels + 32, 16, 1)));
      EXPECT_EQ(joins_in_place(result.plan), images == 1 && channels == 16) << result.plan;
      net.check(sum(relu(join({b, b})), join({b, b})));
    }
  }
}

TEST(FusedPlan, GroupsOddChannelsAndGlobalPoolingAgree) {
  Network net({3, 6, 5, 8});
  const Value x = relu(net.batch_norm("bn", net.conv("c0", net.data(), 6, 24, 3, true, 2), 24));
  const Value y = relu(net.conv("c1", x, 24, 24, 3, false, 24));  // each channel by itself
  const Value pool = apply("Pooling", {y}, {{"global_pool", "True"}, {"pool_type", "avg"}});
  net.check(apply("Flatten", {pool}));
}

// Layers that leave blocks of channels, between those that do not, with what may follow them.
TEST(FusedPlan, ChannelsThatWouldBePaddingMayLieBehind) {
  const auto [few, groups] = Network::unblocked();
  for (const int images : {1, 3}) {
    Network net({images, few, 9, 8});
    const auto conv = [&](const std::string& name, const Value& in, int64_t from, int kernel = 3) {
      return net.conv(name, in, from, few, kernel, false, groups);
    };
    const Value x = relu(net.batch_norm("bn", net.conv("c0", net.data(), few, 50, 3, true), 50));
    const Value pool = apply("Pooling", {x}, {{"kernel", "(3,3)"}, {"pad", "(1,1)"}});
    const Value full = relu(net.conv("c1", pool, 50, 64));
    const Value narrow = conv("c2", full, 64, 1);
    const Value back = sum(conv("c3", narrow, few), narrow);
    const Value joined = apply("Concat", {relu(back), conv("c4", pool, 50)}, {{"num_args", "2"}});
    const Network::Result result = net.check(conv("c5", joined, 2 * few));
    EXPECT_EQ(result.steps("[plain]"), 0) << result.plan;
  }
}

// A network's first layer. Images whose last pixels no kernel reaches, and pads of more zeros than
// the last kernel sees.
TEST(FusedPlan, LargeKernelsMovedBySeveralPixelsAgreeAtTheBorders) {
  struct Layer {
    int64_t channels, height, width;
    const char *kernel, *stride, *pad;
    int64_t kernel_y, kernel_x;
  };
  for (const Layer& layer : {Layer{3, 47, 39, "(11,11)", "(4,4)", "(2,2)", 11, 11},
                             Layer{4, 30, 41, "(9,12)", "(2,3)", "(4,1)", 9, 12},
                             Layer{1, 20, 19, "(3,9)", "(1,5)", "(0,8)", 3, 9}}) {
    Network net({2, layer.channels, layer.height, layer.width});
    const Value weight = net.input("weight", {24, layer.channels, layer.kernel_y, layer.kernel_x});
    const Value x = apply("Convolution", {net.data(), weight, net.input("bias", {24})},
                          {{"kernel", layer.kernel},
                           {"stride", layer.stride},
                           {"pad", layer.pad},
                           {"num_filter", "24"}});
    const Network::Result result = net.check(relu(net.batch_norm("bn", x, 24)));
    EXPECT_EQ(result.steps("[plain]"), 0) << result.plan;
  }
}

TEST(FusedPlan, DropoutThatLetsEverythingPassIsGone) {
  Network net({2, 16, 6, 6});
  const Value x = apply("Dropout", {net.conv("c0", net.data(), 16, 16)});
  EXPECT_EQ(net.check(relu(x)).steps("Dropout"), 0);
}

TEST(FusedPlan, ChangedWeightsAndStatisticsAreSeenAtTheNextRun) {
  Network net({1, 16, 6, 6});
  const Value output = relu(net.batch_norm("bn", net.conv("c0", net.data(), 16, 16), 16));
  Executor executor = net.bind(graph_of({output}));
  executor.forward(false);
  const Values first = values_of(executor.outputs()[0]);
  for (const char* name : {"c0_weight", "bn_mean", "bn_variance", "bn_gamma", "bn_beta"}) {
    NDArray& array = net.array(name);
    const Values before = values_of(array);
    Values changed = before;
    for (float& value : changed) value = value * 0.5f + 0.25f;
    array_of(changed, array.shape()).copy_to(array);
    executor.forward(false);
    const Values now = values_of(executor.outputs()[0]);
    EXPECT_NE(now, first) << name;
    {
      const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
      Network::expect_near(now, net.run(output).values);
    }
    array_of(before, array.shape()).copy_to(array);
    executor.forward(false);
    EXPECT_EQ(values_of(executor.outputs()[0]), first) << name;
  }
}

TEST(FusedPlan, WeightsThatAreWrittenThroughTheirAddressAreSeenAtTheNextRun) {
  Network net({1, 16, 6, 6});
  const Value output = relu(net.batch_norm("bn", net.conv("c0", net.data(), 16, 16), 16));
  Executor executor = net.bind(graph_of({output}));
  executor.forward(false);
  executor.outputs()[0].wait_to_read();
  NDArray& weight = net.array("c0_weight");
  weight.chunk()->hand_out();
  auto* const numbers = static_cast<float*>(weight.data());
  for (const float factor : {0.5f, -3.0f, 2.0f}) {
    for (int64_t i = 0; i < weight.shape().size(); ++i) numbers[i] *= factor;
    executor.forward(false);
    const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
    Network::expect_near(values_of(executor.outputs()[0]), net.run(output).values);
  }
}

// A write that no version counts shows whose weights the second shape is computed with.
TEST(FusedPlan, ShapesShareThePackedWeights) {
  const Shape one{1, 16, 6, 6};
  Network net(one);
  const ir::Graph graph =
      graph_of({relu(net.batch_norm("bn", net.conv("c0", net.data(), 16, 16), 16))});
  CachedOp op(graph, {});
  std::vector<NDArray> inputs = net.inputs(graph);
  const auto call = [&] {
    std::vector<NDArray*> in;
    for (NDArray& input : inputs) in.push_back(&input);
    NDArray result;
    NDArray* const out[] = {&result};
    op.invoke(in, out, Device::cpu());
    return values_of(result);
  };
  Values expected = call();
  const Values again = expected;
  expected.insert(expected.end(), again.begin(), again.end());
  NDArray& weight = net.array("c0_weight");
  std::fill_n(static_cast<float*>(weight.data()), weight.shape().size(), 0.0f);
  const auto data = std::ranges::find(inputs, one, &NDArray::shape);
  Values images = values_of(*data);
  const Values image = images;
  images.insert(images.end(), image.begin(), image.end());
  *data = array_of(images, {2, 16, 6, 6});
  Network::expect_near(call(), expected);
}

TEST(FusedPlan, ThreadsShareThePackedWeightsAndSeeThemChange) {
  constexpr int kThreads = 4, kCalls = 5;
  Network net({1, 16, 6, 6});
  const Value output = relu(net.batch_norm("bn", net.conv("c0", net.data(), 16, 16), 16));
  const ir::Graph graph = graph_of({output});
  CachedOp op(graph, {});
  for (const float factor : {1.0f, 0.5f, -2.0f}) {
    NDArray& weight = net.array("c0_weight");
    Values scaled = values_of(weight);
    for (float& value : scaled) value *= factor;
    array_of(scaled, weight.shape()).copy_to(weight);
    const Values expected = net.run(output).values;
    std::barrier start(kThreads);
    std::vector<int> wrong(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::vector<NDArray> inputs = net.inputs(graph);
        std::vector<NDArray*> in;
        for (NDArray& input : inputs) in.push_back(&input);
        start.arrive_and_wait();
        for (int i = 0; i < kCalls; ++i) {
          NDArray result;
          NDArray* const out[] = {&result};
          op.invoke(in, out, Device::cpu());
          wrong[static_cast<std::size_t>(t)] += values_of(result) != expected;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(kThreads)) << "factor " << factor;
  }
}

TEST(FusedPlan, ComputedWeightsAreNotKept) {
  Network net({1, 16, 6, 6});
  const Value weight = net.input("w", {16, 16, 3, 3}) * net.input("factor", {16, 16, 3, 3});
  const Value conv = apply("Convolution", {net.data(), weight},
                           {{"kernel", "(3,3)"}, {"num_filter", "16"}, {"no_bias", "True"}});
  Executor executor = net.bind(graph_of({conv}));
  executor.forward(false);
  const Values first = values_of(executor.outputs()[0]);
  array_of(Values(16 * 16 * 9, 0.0f), {16, 16, 3, 3}).copy_to(net.array("factor"));
  executor.forward(false);
  EXPECT_NE(values_of(executor.outputs()[0]), first);
  EXPECT_EQ(values_of(executor.outputs()[0]), Values(first.size(), 0.0f));
}

TEST(FusedPlan, BackwardSeesTheGraphAsItIsWritten) {
  Network net({1, 16, 6, 6});
  const Value output = relu(net.batch_norm("bn", net.conv("c0", net.data(), 16, 16), 16));
  Executor executor = net.bind(graph_of({output}), Request::kWrite);
  executor.forward(true);
  executor.backward({});
  EXPECT_EQ(executor.debug_str().find("_sg_onednn_conv"), std::string::npos);
}

TEST(FusedPlanConfig, EachRowSwitchesItsFusionOff) {
  Network net({1, 16, 6, 6});
  const Value normed = net.batch_norm("bn", net.conv("c0", net.data(), 16, 16), 16);
  const Value output = relu(sum(normed, net.data()));
  const auto steps = [&](const char* row) {
    const Setting off(row, "1");
    return net.check(output);
  };
  EXPECT_EQ(net.check(output).steps("(_sg_onednn_conv_add)"), 1);
  EXPECT_EQ(steps("MXNET_DISABLE_ONEDNN_CONV_OPT").steps("_sg_onednn_conv"), 0);
  EXPECT_EQ(steps("MXNET_DISABLE_ONEDNN_FUSE_CONV_BN").steps("(BatchNorm)"), 1);
  EXPECT_EQ(steps("MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU").steps("(Activation)"), 1);
  EXPECT_EQ(steps("MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM").steps("(elemwise_add)"), 1);
}

TEST(FusedPlanConfig, BackendChoosesWhetherPlansAreOptimised) {
  Network net({1, 16, 6, 6});
  const Value output = relu(net.conv("c0", net.data(), 16, 16));
  for (const char* on : {"ONEDNN", "MKLDNN"}) {
    const Setting backend("MXNET_SUBGRAPH_BACKEND", on);
    EXPECT_EQ(net.run(output).steps("_sg_onednn_conv"), 1) << on;
  }
  const Setting off("MXNET_SUBGRAPH_BACKEND", "NONE");
  EXPECT_EQ(net.run(output).steps("_sg_onednn"), 0);
}

}  // namespace
}  // namespace mxnet
