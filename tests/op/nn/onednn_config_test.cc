// SPDX-License-Identifier: Apache-2.0
// Configuration variables of the oneDNN kernels: what each of them changes.
#include <gtest/gtest.h>

#include <cmath>

#include "base/config_table.h"
#include "kernel_call.h"

namespace mxnet {
namespace {

constexpr std::pair<std::string_view, std::string_view> kDense[] = {{"num_hidden", "256"},
                                                                    {"no_bias", "True"}};

TEST(OnednnConfig, EnabledChoosesTheKernels) {
  FloatArray x(Shape{4, 8, 9, 9}, 1), w(Shape{16, 8, 3, 3}, 1), y(Shape{4, 16, 7, 7});
  const std::pair<std::string_view, std::string_view> attrs[] = {
      {"kernel", "(3, 3)"}, {"num_filter", "16"}, {"no_bias", "True"}};
  const auto run = [&] {
    return run_first("Convolution", attrs, {x.tensor(), w.tensor()}, {y.tensor()});
  };
  EXPECT_EQ(run(), "onednn");
  EXPECT_EQ(y.values[5], 72);
  for (const char* name : {"MXNET_ONEDNN_ENABLED", "MXNET_MKLDNN_ENABLED"}) {
    y.values.assign(y.values.size(), 0);
    config_set(name, "0");
    EXPECT_EQ(run(), "plain") << name;
    EXPECT_EQ(y.values[5], 72) << name;
    config_set(name, std::nullopt);
  }
}

TEST(OnednnConfig, ForceFcAbFormatKeepsWeightsAsTheyAre) {
  FloatArray x(Shape{1024, 256}, 1), w(Shape{256, 256}, 1), y(Shape{1024, 256});
  std::size_t packed = 0, plain = 0;
  run_first("FullyConnected", kDense, {x.tensor(), w.tensor()}, {y.tensor()}, &packed);
  config_set("MXNET_ONEDNN_FORCE_FC_AB_FORMAT", "1");
  EXPECT_EQ(run_first("FullyConnected", kDense, {x.tensor(), w.tensor()}, {y.tensor()}, &plain),
            "onednn");
  config_set("MXNET_ONEDNN_FORCE_FC_AB_FORMAT", std::nullopt);
  EXPECT_EQ(y.values[0], 256);
  // A packed copy of the weight is what the workspace of the first call holds.
  EXPECT_GE(packed, plain + 256 * 256 * sizeof(float));
}

TEST(OnednnConfig, UseRnnChoosesPackedWeights) {
  constexpr int64_t kSteps = 3, kBatch = 2, kIn = 8, kUnits = 32;
  constexpr int64_t kWeights = 4 * kUnits * (kIn + kUnits);
  FloatArray x(Shape{kSteps, kBatch, kIn}), params(Shape{kWeights + 8 * kUnits}),
      state(Shape{1, kBatch, kUnits}, 0.5F), cell(Shape{1, kBatch, kUnits}, -0.25F);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = 0.1F * static_cast<float>(i % 7) - 0.3F;
  for (std::size_t i = 0; i < params.values.size(); ++i)
    params.values[i] = 0.02F * static_cast<float>(i % 11) - 0.1F;
  const std::pair<std::string_view, std::string_view> attrs[] = {
      {"state_size", "32"}, {"num_layers", "1"}, {"mode", "lstm"}};
  // What was in the memory before counts for nothing.
  FloatArray y(Shape{kSteps, kBatch, kUnits}, NAN),
      reserve(Shape{kSteps * kBatch * 5 * kUnits}, NAN);
  std::size_t packed = 0;
  const std::vector<Tensor> in{x.tensor(), params.tensor(), state.tensor(), cell.tensor()};
  EXPECT_EQ(run_first("RNN", attrs, in, {y.tensor(), reserve.tensor()}, &packed), "packed");
  for (const char* name :
       {"MXNET_USE_ONEDNN_RNN", "MXNET_USE_MKLDNN_RNN", "MXNET_ONEDNN_ENABLED"}) {
    FloatArray again(y.shape, NAN), kept(reserve.shape, NAN);
    std::size_t plain = 0;
    config_set(name, "0");
    EXPECT_EQ(run_first("RNN", attrs, in, {again.tensor(), kept.tensor()}, &plain), "plain")
        << name;
    config_set(name, std::nullopt);
    // A copy of the weights is what only the workspace of the first call holds.
    EXPECT_GE(packed, plain + kWeights * sizeof(float)) << name;
    for (std::size_t i = 0; i < y.values.size(); ++i)
      ASSERT_NEAR(again.values[i], y.values[i], 1e-6F) << name << ' ' << i;
    for (std::size_t i = 0; i < reserve.values.size(); ++i)
      ASSERT_NEAR(kept.values[i], reserve.values[i], 1e-6F) << name << ' ' << i;
  }
}

TEST(OnednnConfig, EmptyArraysAndDoublesArePlain) {
  FloatArray x(Shape{0, 256}), w(Shape{256, 256}, 1), y(Shape{0, 256});
  EXPECT_EQ(run_first("FullyConnected", kDense, {x.tensor(), w.tensor()}, {y.tensor()}), "plain");
  std::vector<double> values(256 * 256, 1);
  const Shape square{256, 256};
  const Tensor wide{values.data(), &square, DType::kFloat64};
  std::vector<double> result(256 * 256);
  EXPECT_EQ(run_first("FullyConnected", kDense, {wide, wide},
                      {Tensor{result.data(), &square, DType::kFloat64}}),
            "plain");
  EXPECT_EQ(result[0], 256);
}

TEST(OnednnConfig, SmallProductsArePlain) {
  FloatArray x(Shape{8, 64}, 1), w(Shape{256, 64}, 1), y(Shape{8, 256});
  EXPECT_EQ(run_first("FullyConnected", kDense, {x.tensor(), w.tensor()}, {y.tensor()}), "onednn");
  FloatArray few(Shape{8, 32}, 1), v(Shape{256, 32}, 1), z(Shape{8, 256});
  EXPECT_EQ(run_first("FullyConnected", kDense, {few.tensor(), v.tensor()}, {z.tensor()}), "plain");
  EXPECT_EQ(z.values[0], 32);
}

TEST(OnednnConfig, FewRowsOfLargeWeightsNeedNoOnednn) {
  const std::pair<std::string_view, std::string_view> attrs[] = {{"num_hidden", "1025"},
                                                                 {"no_bias", "True"}};
  FloatArray x(Shape{4, 1024}, 1), w(Shape{1025, 1024}, 1), y(Shape{4, 1025});
  for (const char* enabled : {"1", "0"}) {
    config_set("MXNET_ONEDNN_ENABLED", enabled);
    EXPECT_EQ(run_first("FullyConnected", attrs, {x.tensor(), w.tensor()}, {y.tensor()}),
              "few_rows");
    EXPECT_EQ(y.values[4099], 1024);
  }
  config_set("MXNET_ONEDNN_ENABLED", std::nullopt);
}

}  // namespace
}  // namespace mxnet
