// SPDX-License-Identifier: Apache-2.0
// Fully connected layers of plans in fewer multiplications: what they give is what the layers give,
// and the configuration and the numbers decide.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/omp.h"
#include "exec/network_fixture.h"
#include "op/products/packed_gemm.h"
#include "op/products/strassen_product.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

constexpr int64_t kUnits = 512;

class DenseStrassen : public testing::Test {
 protected:
  void SetUp() override {
    MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
    if (!strassen_product::divides(kUnits, kUnits)) GTEST_SKIP() << "needs AVX-512";
    set_omp_threads(2);
  }
  void TearDown() override { set_omp_threads(threads_); }

  static Value dense(Network& net, const std::string& name, const Value& x, bool bias = true) {
    std::vector<Value> inputs{x, net.input(name + "_weight", {kUnits, kUnits})};
    if (bias) inputs.push_back(net.input(name + "_bias", {kUnits}));
    return named(name, apply("FullyConnected", inputs,
                             {{"num_hidden", std::to_string(kUnits)},
                              {"no_bias", bias ? "False" : "True"}}));
  }
  // Twice: what is kept gives the same.
  static Values run(Network& net, const Value& output) {
    Executor executor = net.bind(graph_of({output}));
    executor.forward(false);
    const Values first = values_of(executor.outputs()[0]);
    executor.forward(false);
    const Values again = values_of(executor.outputs()[0]);
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(first[0])), 0);
    return first;
  }
  static Values run_plainly(Network& net, const Value& output) {
    const Setting off("MXNET_FC_STRASSEN", "0");
    return run(net, output);
  }

 private:
  const Setting everywhere_{"MXNET_FC_STRASSEN", "2"};
  const int threads_ = omp_threads();
};

TEST_F(DenseStrassen, WhatFollowsALayerIsComputedWithIt) {
  for (const char* activation : {"relu", "sigmoid", "tanh", "softrelu", "gelu", "elu", "leaky"}) {
    const std::string name(activation);
    // Rows are left, and threads have some more than others.
    Network net({300, kUnits});
    const Value a = dense(net, "a", net.data());
    const Value b = name == "gelu" || name == "elu" || name == "leaky"
                        ? apply("LeakyReLU", {a}, {{"act_type", name}})
                        : apply("Activation", {a}, {{"act_type", name}});
    const Value c = relu(sum(dense(net, "b", b, false), net.data()));
    const Network::Result result = net.check(c);
    EXPECT_EQ(result.steps("[strassen]"), 2) << result.plan;
    EXPECT_EQ(result.steps(), 2) << result.plan;
    EXPECT_NE(result.values, run_plainly(net, c)) << name;
  }
}

TEST_F(DenseStrassen, ChangedWeightsAreSeenAtTheNextRun) {
  Network net({256, kUnits});
  Executor executor = net.bind(graph_of({dense(net, "a", net.data())}));
  executor.forward(false);
  NDArray& weight = net.array("a_weight");
  array_of(Values(kUnits * kUnits, 0.0F), weight.shape()).copy_to(weight);
  executor.forward(false);
  const Values bias = values_of(net.array("a_bias")), now = values_of(executor.outputs()[0]);
  for (std::size_t i = 0; i < now.size(); ++i) EXPECT_EQ(now[i], bias[i % kUnits]);
}

TEST_F(DenseStrassen, WhatIsNotFiniteStaysInItsRow) {
  for (const float value : {NAN, INFINITY}) {
    Network net({256, kUnits});
    net.array("data").data_as<float>()[5 * kUnits + 3] = value;
    const Values got = run(net, dense(net, "a", net.data()));
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(std::isfinite(got[i]), i / kUnits != 5) << i << " with " << value;
  }
}

TEST_F(DenseStrassen, LargeNumbersDoNotHideSmallOnes) {
  Network net({256, kUnits});
  const Value output = dense(net, "a", net.data());
  auto *x = net.array("data").data_as<float>(), *w = net.array("a_weight").data_as<float>();
  for (int64_t i = 0; i < 256; ++i) x[i * kUnits + 9] = 1e6F;
  for (int64_t i = 0; i < kUnits; ++i) w[i * kUnits + 9] = 1e-6F;
  EXPECT_EQ(run(net, output), run_plainly(net, output));
}

TEST_F(DenseStrassen, LargeRowsDoNotHideSmallOnes) {
  Network net({256, kUnits});
  const Value output = dense(net, "a", net.data());
  auto* x = net.array("data").data_as<float>();
  for (int64_t row = 0; row < 256; row += 8) {  // all that are looked at for their products
    for (int64_t i = 0; i < kUnits; ++i) x[row * kUnits + i] *= 1e6F;
  }
  EXPECT_EQ(run(net, output), run_plainly(net, output));
}

TEST_F(DenseStrassen, ThreadsOfFewRowsMultiplyPlainly) {
  Network few({192, kUnits}), more({256, kUnits});
  const Value a = dense(few, "a", few.data()), b = dense(more, "a", more.data());
  EXPECT_EQ(run(few, a), run_plainly(few, a));
  EXPECT_NE(run(more, b), run_plainly(more, b));
}

TEST_F(DenseStrassen, TheNumberOfThreadsDoesNotMatter) {
  Network net({1030, kUnits});
  const Value output = dense(net, "a", net.data());
  const Values first = run(net, output);
  EXPECT_NE(first, run_plainly(net, output));
  for (const int threads : {1, 3, 4, 5}) {
    set_omp_threads(threads);
    EXPECT_EQ(run(net, output), first) << threads;
  }
}

TEST_F(DenseStrassen, LargeLayersAreInFewerMultiplications) {
  Network net({128, kUnits});
  const Value output = dense(net, "a", net.data());
  const auto steps = [&](const char* row, const char* value) {
    const Setting setting(row, value);
    return net.check(output).steps("[strassen]");
  };
  EXPECT_EQ(steps("MXNET_FC_STRASSEN", "2"), 1);
  EXPECT_EQ(steps("MXNET_FC_STRASSEN", "1"), packed_gemm::has_tall_tiles() ? 0 : 1);
  EXPECT_EQ(steps("MXNET_FC_STRASSEN", "0"), 0);
  EXPECT_EQ(steps("MXNET_ENFORCE_DETERMINISM", "1"), 0);
  EXPECT_EQ(steps("MXNET_ONEDNN_DISABLE_FC_CACHE", "1"), 0);
}

}  // namespace
}  // namespace mxnet
