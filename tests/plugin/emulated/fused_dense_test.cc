// SPDX-License-Identifier: Apache-2.0
// Fully connected layers with what cuBLASLt does on the way out of a product: in inference a bias
// and a relu, in training the gradient of the bias.
#include <gtest/gtest.h>

#include "tests/plugin/emulated/networks.h"

namespace mxnet {
namespace {

using namespace testing::gpu;  // NOLINT(google-build-using-namespace)

Value dense(Images& net, const std::string& name, const Value& in, int64_t from, int64_t to,
            bool bias, const char* flatten = "True") {
  std::vector<Value> inputs{in, net.input(name + "_weight", {to, from})};
  if (bias) inputs.push_back(net.input(name + "_bias", {to}));
  return named(name, apply("FullyConnected", inputs,
                           {{"num_hidden", std::to_string(to)},
                            {"no_bias", bias ? "False" : "True"},
                            {"flatten", flatten}}));
}

TEST(GpuFusedDense, ALayerAndItsReluAreOneStep) {
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.name);
    Images net(type.name);
    const Value data = net.input("data", {5, 3, 7});
    const Value a = relu(dense(net, "a", data, 21, 9, true));
    const Value b = apply("relu", {dense(net, "b", a, 9, 6, false)});
    const std::string plan = net.check(dense(net, "c", b, 6, 4, true), type.tolerance);
    EXPECT_EQ(count(plan, "(_sg_dense)"), 3) << plan;
    EXPECT_EQ(count(plan, "\n  "), 3) << plan;
  }
  Images rows("float32");
  const Value data = rows.input("data", {2, 3, 5});
  const std::string plan = rows.check(relu(dense(rows, "a", data, 5, 4, true, "False")), 1e-5);
  EXPECT_EQ(count(plan, "\n  "), 1) << plan;
}

TEST(GpuFusedDense, WhatCublasDoesNotDoStaysBehind) {
  Images net("float32");
  const Value layer = dense(net, "a", net.input("data", {3, 4}), 4, 5, true);
  for (const char* kind : {"sigmoid", "tanh", "softrelu"}) {
    const std::string plan = net.check(apply("Activation", {layer}, {{"act_type", kind}}), 1e-5);
    EXPECT_EQ(count(plan, "(Activation)"), 1) << plan;
  }
  // Its GELU is another function.
  const std::string gelu = net.check(apply("LeakyReLU", {layer}, {{"act_type", "gelu"}}), 1e-5);
  EXPECT_EQ(count(gelu, "(LeakyReLU)"), 1) << gelu;
  const std::string leaky =
      net.check(apply("LeakyReLU", {layer}, {{"act_type", "leaky"}, {"slope", "0.5"}}), 1e-5);
  EXPECT_EQ(count(leaky, "(LeakyReLU)"), 1) << leaky;
  // Read twice, and of a type without epilogues.
  const std::string twice = net.check(sum(relu(layer), layer), 1e-5);
  EXPECT_EQ(count(twice, "(_sg_dense)"), 1) << twice;
  Images wide("float64");
  const Value other = relu(dense(wide, "a", wide.input("data", {3, 4}), 4, 5, true));
  EXPECT_EQ(count(wide.check(other, 1e-10), "(_sg_dense)"), 0);
  const Setting off("MXNET_USE_FUSION", "0");
  EXPECT_EQ(count(net.check(relu(layer), 1e-5), "(_sg_dense)"), 0);
}

TEST(GpuFusedDense, NothingToSumAndNothingToWrite) {
  for (const char* type : {"float32", "float16"}) {
    Images net(type);
    net.check(relu(dense(net, "a", net.input("data", {0, 4}), 4, 5, true)), 1e-5);
    Images empty(type);
    empty.check(relu(dense(empty, "a", empty.input("data", {3, 0}), 0, 5, true)), 1e-5);
  }
}

// With one epilogue, or, in float64, without.
TEST(GpuFusedDense, GradientsOfBothParameters) {
  constexpr Type kAll[] = {
      {"float32", 1e-5}, {"float64", 1e-12}, {"float16", 4e-3}, {"bfloat16", 3e-2}};
  for (const Type& type : kAll) {
    for (const int64_t rows : {1, 6, 37}) {
      SCOPED_TRACE(std::string(type.name) + ", rows " + std::to_string(rows));
      Images net(type.name);
      const Value data = net.input("data", {rows, 5});
      const Value hidden = relu(dense(net, "a", data, 5, 8, true));
      const Value y = dense(net, "b", hidden, 8, 3, true);
      const Value loss = apply("sum", {y * net.input("factors", {rows, 3})});
      const Setting as_written("MXNET_SUBGRAPH_BACKEND", "NONE");
      const auto expected = net.train(loss, Device::cpu()).first;
      const auto found = net.train(loss, kGpu).first;
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        double largest = 0.1;
        for (const float value : expected[i]) largest = std::max(largest, std::fabs(double{value}));
        ASSERT_EQ(found[i].size(), expected[i].size());
        for (std::size_t k = 0; k < expected[i].size(); ++k)
          ASSERT_NEAR(found[i][k], expected[i][k], type.tolerance * largest) << i << ", " << k;
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
