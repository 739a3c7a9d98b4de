// SPDX-License-Identifier: Apache-2.0
// Plans for inference on a GPU: convolutions take over what follows them, and results are those of
// the graph as it was written, on the CPU.
#include <gtest/gtest.h>

#include "tests/plugin/emulated/networks.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

TEST(GpuFusedConvolution, AResidualBlockIsAsManyStepsAsConvolutions) {
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.name);
    Images net(type.name);
    const Value data = net.input("data", {2, 4, 7, 6});
    const Value x = relu(net.normed("bn0", net.conv("c0", data, 4, 8, 3), 8));
    const Value a = relu(net.normed("bn1", net.conv("c1", x, 8, 8, 1), 8, "True"));
    const Value b = net.normed("bn2", net.conv("c2", a, 8, 8, 3, true), 8);
    const std::string plan = net.check(relu(sum(b, x)), type.tolerance);
    EXPECT_EQ(count(plan, "(_sg_conv)"), 3) << plan;
    EXPECT_EQ(count(plan, "(_sg_conv_weight)"), 3) << plan;
    EXPECT_EQ(count(plan, "(BatchNorm)") + count(plan, "_sg_pointwise"), 0) << plan;
  }
}

TEST(GpuFusedConvolution, EachActivationInEachLayout) {
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  const std::pair<const char*, Attributes> activations[] = {
      {"Activation", {{"act_type", "relu"}}},
      {"Activation", {{"act_type", "sigmoid"}}},
      {"Activation", {{"act_type", "tanh"}}},
      {"LeakyReLU", {{"act_type", "leaky"}, {"slope", "0.3"}}},
      {"clip", {{"a_min", "0"}, {"a_max", "1.5"}}}};
  for (const char* layout : {"NCHW", "NHWC"}) {
    const bool last = std::string(layout) == "NHWC";
    for (const auto& [op, attributes] : activations) {
      SCOPED_TRACE(std::string(op) + attributes[0].second + layout);
      Images net("float32");
      const Value data = net.input("data", last ? Shape{2, 5, 6, 3} : Shape{2, 3, 5, 6});
      const Value conv = net.conv("c", data, 3, 4, 3, true, 1, layout);
      const Value normed = net.normed("bn", conv, 4, "False", last ? "-1" : "1");
      const std::string plan = net.check(apply(op, {normed}, attributes), 1e-5);
      EXPECT_EQ(count(plan, "(_sg_conv)"), 1) << plan;
      EXPECT_EQ(count(plan, "(_sg_conv_weight)"), 1) << plan;
      EXPECT_EQ(count(plan, "\n  "), 2) << plan;
    }
  }
}

TEST(GpuFusedConvolution, WhatCudnnHasNoOperationForStaysBehind) {
  Images net("float32");
  const Value data = net.input("data", {1, 3, 5, 5});
  const Value conv = net.conv("c", data, 3, 4, 1);
  const std::string plan = net.check(apply("Activation", {conv}, {{"act_type", "softrelu"}}), 1e-5);
  EXPECT_EQ(count(plan, "(_sg_conv)"), 1) << plan;
  EXPECT_EQ(count(plan, "(Activation)"), 1) << plan;
  const std::string both = net.check(apply("tanh", {relu(conv)}), 1e-5);
  EXPECT_EQ(count(both, "(tanh)"), 1) << both;
  const std::string shifted =
      net.check(apply("clip", {conv}, {{"a_min", "-0.5"}, {"a_max", "0.5"}}), 1e-5);
  EXPECT_EQ(count(shifted, "(clip)"), 1) << shifted;
}

TEST(GpuFusedConvolution, ASumIsWrittenElsewhereThanItsOtherInput) {
  Images net("float32");
  const Value data = net.input("data", {1, 4, 5, 5});
  const Value a = net.conv("a", data, 4, 4, 3), b = net.conv("b", data, 4, 4, 1, true, 2);
  const std::string plan = net.check(apply("broadcast_add", {a, b}), 1e-5);
  EXPECT_EQ(count(plan, "(_sg_conv)"), 2) << plan;
  // The other value is read again.
  net.check(sum(relu(sum(a, data)), data), 1e-5);
}

// Each parameter that goes into the weights is seen to change, and a run without a change makes
// none of them anew: they stay in memory that has been there before.
TEST(GpuFusedConvolution, WeightsAreMadeAnewWhereOneOfTheirArraysHasChanged) {
  Images net("float16");
  const Value data = net.input("data", {2, 8, 5, 5});
  const Value a = relu(net.normed("bn", net.conv("a", data, 8, 8, 3, true), 8));
  const Value output = net.conv("b", a, 8, 8, 3);
  const Setting as_written("MXNET_SUBGRAPH_BACKEND", "NONE");
  Executor executors[] = {net.bind(output, Device::cpu(), Request::kNull),
                          net.bind(output, kGpu, Request::kNull)};
  const std::string plan = executors[1].debug_str();
  EXPECT_EQ(count(plan, "(_sg_conv_weight)"), 2) << plan;
  EXPECT_EQ(count(plan, " -> "), 6) << plan;  // two transpositions, two weights, two convolutions
  const auto results = [&](Executor& executor) {
    executor.forward(false);
    return values_as_float(executor.outputs()[0]);
  };
  const auto expect_same_results = [&](const std::string& changed) {
    const Values expected = results(executors[0]), found = results(executors[1]);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 2e-2 * (1 + std::fabs(expected[i]))) << changed;
    EXPECT_EQ(results(executors[1]), found) << changed;
  };
  expect_same_results("nothing");
  const auto change = [&](std::size_t i, bool state) {
    for (Executor& executor : executors) {
      NDArray array =
          state ? executor.arrays().aux[i].detach() : executor.arrays().args[i].detach();
      call_into(array, "_plus_scalar", {&array}, {{"scalar", "0.5"}});
    }
  };
  for (std::size_t i = 0; i < executors[0].arrays().args.size(); ++i) {
    change(i, false);
    expect_same_results("argument " + std::to_string(i));
  }
  for (std::size_t i = 0; i < executors[0].arrays().aux.size(); ++i) {
    change(i, true);
    expect_same_results("state " + std::to_string(i));
  }
}

// Half types with whole packs of channels: images are turned at the borders and nowhere else.
TEST(GpuFusedConvolution, HalfTypesComputeWithChannelsLast) {
  for (const Type& type : {kTypes[1], kTypes[2]}) {
    SCOPED_TRACE(type.name);
    Images net(type.name);
    const Value data = net.input("data", {2, 3, 9, 8});
    const Value stem = relu(net.normed("bn0", net.conv("c0", data, 3, 8, 3), 8));
    const Value x =
        apply("Pooling", {stem}, {{"kernel", "(3,3)"}, {"stride", "(2,2)"}, {"pad", "(1,1)"}});
    const Value a = relu(net.normed("bn1", net.conv("c1", x, 8, 16, 1, true), 16));
    const Value b = net.normed("bn2", net.conv("c2", a, 16, 8, 3, false, 2), 8, "True");
    const Value joined = apply("Concat", {relu(sum(b, x)), x * 0.5}, {{"num_args", "2"}});
    // Neither a convolution's nor alone: stays between.
    const Value normed = apply("tanh", {net.normed("bn3", joined, 16)});
    const Value pooled =
        apply("Pooling", {normed}, {{"global_pool", "True"}, {"pool_type", "avg"}});
    const std::string plan = net.check(apply("Flatten", {pooled}), type.tolerance);
    EXPECT_EQ(count(plan, "(_sg_conv)"), 3) << plan;
    EXPECT_EQ(count(plan, "(transpose)"), 2) << plan;
    EXPECT_EQ(count(plan, "data_to_last(transpose)"), 1) << plan;
  }
}

TEST(GpuFusedConvolution, WhereTurningDoesNotPayChannelsStayWhereTheyAre) {
  const auto transpositions = [](const char* type, int64_t channels, const char* setting) {
    Images net(type);
    const Value data = net.input("data", {1, channels, 4, 4});
    const Value a = net.conv("a", data, channels, channels, 3);
    const Value b = net.conv("b", a, channels, channels, 3);
    const Setting cores("MXNET_CUDA_ALLOW_TENSOR_CORE", setting);
    return count(net.check(relu(net.conv("c", b, channels, channels, 1)), 5e-2), "(transpose)");
  };
  EXPECT_EQ(transpositions("float16", 8, "1"), 2);
  EXPECT_EQ(transpositions("float32", 8, "1"), 0);
  EXPECT_EQ(transpositions("float16", 6, "1"), 0);
  EXPECT_EQ(transpositions("float16", 8, "0"), 0);
  // Mixed precision: float32 between layers of half types stays as it is.
  Images mixed("float16");
  const auto cast = [](const Value& x, const char* type) {
    return apply("Cast", {x}, {{"dtype", type}});
  };
  const Value first = mixed.conv("a", mixed.input("data", {1, 8, 4, 4}), 8, 8, 3);
  const Value second = mixed.conv("b", first, 8, 8, 3);
  const Value wide = apply(
      "Convolution", {cast(second, "float32"), cast(mixed.input("w", {8, 8, 1, 1}), "float32")},
      {{"kernel", "(1,1)"}, {"num_filter", "8"}, {"no_bias", "True"}});
  const Value third = mixed.conv("c", cast(wide, "float16"), 8, 8, 3);
  const std::string plan = mixed.check(mixed.conv("d", third, 8, 8, 3), 5e-2);
  EXPECT_EQ(count(plan, "(transpose)"), 4) << plan;
  // One convolution: cuDNN turns as much itself.
  Images net("float16");
  const Value conv = net.conv("a", net.input("data", {1, 8, 4, 4}), 8, 8, 3);
  EXPECT_EQ(count(net.check(conv, 5e-3), "(transpose)"), 0);
  // A graph that is given so has nothing to turn.
  Images last("float16");
  const Value given = last.conv("a", last.input("data", {1, 4, 4, 8}), 8, 8, 3, true, 1, "NHWC");
  EXPECT_EQ(count(last.check(relu(given), 5e-3), "(transpose)"), 0);
}

// Values that somebody outside reads, and layers that channels are second of.
TEST(GpuFusedConvolution, TurnedValuesAreTurnedBackOnceForAllWhoReadThemSo) {
  Images net("float16");
  const Value data = net.input("data", {2, 8, 6, 5});
  const Value a = net.conv("a", data, 8, 8, 3), b = relu(net.conv("b", a, 8, 8, 3));
  const Value c = net.conv("c", b, 8, 8, 3);
  const Value d = apply("L2Normalization", {c}, {{"mode", "channel"}});
  const Value e = apply("slice_axis", {c}, {{"axis", "1"}, {"begin", "2"}, {"end", "4"}});
  const Value f = apply("sum", {d}, {{"axis", "1"}}), g = apply("sum", {e}, {{"axis", "1"}});
  const std::string plan = net.check(sum(f, g), 1e-2);
  EXPECT_EQ(count(plan, "(transpose)"), 2) << plan;
}

// A step of training: gradients go back in the order of the way forward, so that maps are turned
// where the network begins and ends, and weights and their gradients once each.
TEST(GpuFusedConvolution, TrainingComputesWithChannelsLast) {
  Images net("float16");
  const Value data = net.input("data", {2, 3, 9, 8});
  const Value stem = relu(net.normed("bn0", net.conv("c0", data, 3, 8, 3), 8));
  const Value x =
      apply("Pooling", {stem}, {{"kernel", "(3,3)"}, {"stride", "(2,2)"}, {"pad", "(1,1)"}});
  const Value a = relu(net.normed("bn1", net.conv("c1", x, 8, 16, 3, true), 16));
  const Value b = net.normed("bn2", net.conv("c2", a, 16, 8, 3, false, 2), 8);
  const Value y = relu(sum(b, x));
  const Value pooled = apply("Pooling", {y}, {{"global_pool", "True"}, {"pool_type", "avg"}});
  const Value flat = apply("Flatten", {pooled});
  const Value loss = apply("sum", {flat * net.input("factors", {2, 8})});
  const auto [turned, plan] = net.train(loss, kGpu);
  // The image and its gradient, the pooled map and its gradient, three weights and their gradients.
  EXPECT_EQ(count(plan, "(transpose)"), 10) << plan;
  const auto expect_near = [&](const std::vector<Values>& expected, double tolerance) {
    ASSERT_EQ(turned.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double largest = 0.1;  // a normalised layer's bias has a gradient of zero, or nearly so
      for (const float value : expected[i]) largest = std::max(largest, std::fabs(double{value}));
      ASSERT_EQ(turned[i].size(), expected[i].size());
      for (std::size_t k = 0; k < expected[i].size(); ++k)
        ASSERT_NEAR(turned[i][k], expected[i][k], tolerance * largest) << i << ", " << k;
    }
  };
  {
    const Setting off("MXNET_CUDA_ALLOW_TENSOR_CORE", "0");
    const auto [plain, its_plan] = net.train(loss, kGpu);
    EXPECT_EQ(count(its_plan, "(transpose)"), 0) << its_plan;
    expect_near(plain, 1e-2);
  }
  expect_near(net.train(loss, Device::cpu()).first, 3e-2);
}

// A step of training with a relu behind each normalisation, but for one whose value is read twice,
// and one that is not differentiated: arrays of any order and type.
TEST(GpuFusedConvolution, TrainingNormalisesAndCutsInOneStep) {
  for (const char* dtype : {"float32", "float16", "bfloat16"}) {
    for (const char* fix_gamma : {"False", "True"}) {
      Images net(dtype);
      const bool half = std::string(dtype).find("16") != std::string::npos;
      const Value data = net.input("data", {2, 8, 5, 6});
      const Value a = relu(net.normed("bn0", net.conv("c0", data, 8, 16, 3), 16, fix_gamma));
      const Value b = relu(net.normed("bn1", a, 16, fix_gamma));
      const Value twice = net.normed("bn2", b, 16, fix_gamma);
      const Value c = sum(relu(twice), twice);
      const Value flat = relu(net.normed("bn3", apply("Flatten", {c}), 480, fix_gamma));
      const Value loss = apply("sum", {flat * net.input("factors", {2, 480})});
      const auto [fused, plan] = net.train(loss, kGpu);
      EXPECT_EQ(count(plan, "(_contrib_BatchNormWithReLU)"), 3) << plan;
      EXPECT_EQ(count(plan, "(_backward_contrib_BatchNormWithReLU)"), 3) << plan;
      EXPECT_EQ(count(plan, "(BatchNorm)"), 1) << plan;
      std::vector<Values> expected;
      {
        const Setting off("MXNET_USE_FUSION", "0");
        const auto [plain, its_plan] = net.train(loss, kGpu);
        EXPECT_EQ(count(its_plan, "BatchNormWithReLU"), 0) << its_plan;
        expected = plain;
      }
      ASSERT_EQ(fused.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        double largest = 0.1;
        for (const float value : expected[i]) largest = std::max(largest, std::fabs(double{value}));
        for (std::size_t k = 0; k < expected[i].size(); ++k)
          ASSERT_NEAR(fused[i][k], expected[i][k], (half ? 2e-2 : 1e-5) * largest)
              << dtype << ", array " << i << ", " << k;
      }
    }
  }
}

TEST(GpuFusedConvolution, OtherTypesAndSettingsLeaveItAsItIs) {
  Images wide("float64");
  const Value conv = wide.conv("c", wide.input("data", {1, 2, 4, 4}), 2, 2, 3);
  EXPECT_EQ(count(wide.check(relu(conv), 1e-10), "(_sg_conv)"), 0);
  Images net("float32");
  const Value one = relu(net.conv("c", net.input("data", {1, 2, 4, 4}), 2, 2, 3));
  EXPECT_EQ(count(net.check(one, 1e-5), "(_sg_conv)"), 1);
  const Setting off("MXNET_USE_FUSION", "0");
  EXPECT_EQ(count(net.check(one, 1e-5), "(_sg_conv)"), 0);
}

}  // namespace
}  // namespace mxnet
