// SPDX-License-Identifier: Apache-2.0
// Winograd convolutions are convolutions: for any size, layout, instruction set and number of
// threads, within the rounding errors that the header of the points promises.
#include "op/nn/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "op/nn/winograd_layer.h"

namespace mxnet {
namespace {

using Isa = WinogradConv::Isa;

class Winograd : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!WinogradConv::has(GetParam())) GTEST_SKIP() << "this CPU lacks the instructions";
  }
};
INSTANTIATE_TEST_SUITE_P(Sets, Winograd, testing::Values(Isa::kAvx2, Isa::kAvx512));

// On one to three threads.
void check_against_direct(const WinogradDesc& d, Isa isa, std::mt19937& random) {
  const Layer layer(d, random);
  const int threads = 1 + static_cast<int>(random() % 3);
  const WinogradConv conv(d, isa);
  EXPECT_LE(error_of(layer.winograd(isa, threads), layer.laid_out(layer.direct(), conv)), 1e-5)
      << text(d) << " threads " << threads;
}

TEST_P(Winograd, IsTheConvolutionForAnySizesAndLayouts) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 40; ++round) {
    WinogradDesc d{.batch = 1 + below(3),
                   .channels = 1 + below(40),
                   .filters = 1 + below(70),
                   .height = 1 + below(20),
                   .width = 1 + below(44),
                   .pad_y = below(3),
                   .pad_x = below(3),
                   .tile = below(2) == 0 ? 2 : 4,
                   .src_blocked = below(2) == 0,
                   .dst_blocked = below(2) == 0};
    if (!WinogradConv::supported(d)) continue;
    check_against_direct(d, GetParam(), random);
  }
}

TEST_P(Winograd, IsTheConvolutionWithEachFormOfKernel) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (const WinogradForm& form : kWinogradForms) {
    for (int round = 0; round < 12; ++round) {
      const WinogradDesc d{.batch = 1 + below(3),
                           .channels = 1 + below(40),
                           .filters = 1 + below(70),
                           .height = form.kernel_y + below(20),
                           .width = form.kernel_x + below(44),
                           .pad_y = below(form.kernel_y),
                           .pad_x = below(form.kernel_x),
                           .kernel_y = form.kernel_y,
                           .kernel_x = form.kernel_x,
                           .tile = std::max(form.tile_y, form.tile_x),
                           .src_blocked = below(2) == 0,
                           .dst_blocked = below(2) == 0};
      ASSERT_TRUE(WinogradConv::supported(d, GetParam())) << text(d);
      check_against_direct(d, GetParam(), random);
    }
  }
}

TEST_P(Winograd, NarrowArraysAreRoundedAndNothingElse) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 20; ++round) {
    WinogradDesc d{.batch = 1 + below(3),
                   .channels = 1 + below(40),
                   .filters = 1 + below(70),
                   .height = 3 + below(20),
                   .width = 3 + below(44),
                   .pad_y = below(3),
                   .pad_x = below(3),
                   .tile = below(2) == 0 ? 2 : 4,
                   .src_blocked = true,
                   .dst_blocked = true};
    Layer layer(d, random);
    for (std::vector<float>* values : {&layer.src, &layer.sum})
      for (float& value : *values) value = bfloat16(value);
    layer.bias[0] = std::nanf("");
    const LayerPost post{.bias = layer.bias.data(), .sum = layer.sum.data(), .low = 0};
    std::vector<float> want = layer.winograd(GetParam(), 2, post);
    for (float& value : want) value = bfloat16(value);
    layer.desc.src_narrow = layer.desc.dst_narrow = true;
    const std::vector<float> got = layer.winograd(GetParam(), 2, post);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (std::isnan(want[i]))
        ASSERT_TRUE(std::isnan(got[i])) << text(d);
      else
        ASSERT_EQ(got[i], want[i]) << text(d);
    }
  }
}

TEST_P(Winograd, ManyChannelsAreAddedUpInParts) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const Layer layer(
      {.batch = 1, .channels = 530, .filters = 40, .height = 9, .width = 9, .pad_y = 1, .pad_x = 1},
      random);
  const std::vector<double> want = layer.direct();
  EXPECT_LE(error_of(layer.winograd(GetParam(), 1), {want.begin(), want.end()}), 2e-5);
}

TEST_P(Winograd, ThreadsDoNotChangeABit) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  // Enough tiles for each thread to have its own; too few; and too few filters to divide as well.
  for (const auto& [height, filters] : {std::pair{61, 80}, {7, 80}, {7, 20}}) {
    const Layer layer({.batch = 2,
                       .channels = 33,
                       .filters = filters,
                       .height = height,
                       .width = 50,
                       .pad_y = 1,
                       .pad_x = 1,
                       .src_blocked = true,
                       .dst_blocked = true},
                      random);
    const std::vector<float> one = layer.winograd(GetParam(), 1);
    for (const int threads : {2, 3, 5, 16})
      EXPECT_EQ(layer.winograd(GetParam(), threads), one)
          << threads << " threads, height " << height << ", filters " << filters;
  }
}

TEST_P(Winograd, AppliesWhatFollowsInOrder) {
  std::mt19937 random(kSeed);
  for (const bool in_blocks : {false, true}) {
    const Layer layer({.batch = 2,
                       .channels = 5,
                       .filters = 21,
                       .height = 11,
                       .width = 19,
                       .pad_y = 1,
                       .pad_x = 1,
                       .dst_blocked = in_blocks},
                      random);
    const LayerPost post{
        .bias = layer.bias.data(), .sum = layer.sum.data(), .slope = 0.25F, .low = -1, .high = 6};
    std::vector<double> want = layer.direct();
    const int64_t plane = layer.out.height * layer.out.width;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const auto filter =
          static_cast<std::size_t>(static_cast<int64_t>(i) / plane % layer.out.channels);
      double value =
          want[i] + static_cast<double>(layer.bias[filter]) + static_cast<double>(layer.sum[i]);
      if (value < 0) value *= 0.25;
      want[i] = std::clamp(value, -1.0, 6.0);
    }
    const WinogradConv conv(layer.desc, GetParam());
    EXPECT_LE(error_of(layer.winograd(GetParam(), 2, post), layer.laid_out(want, conv)), 1e-5);
  }
}

TEST_P(Winograd, LimitsLeaveTheChannelsBehindTheLastZero) {
  std::mt19937 random(kSeed);
  const Layer layer(
      {.batch = 1, .channels = 4, .filters = 3, .height = 6, .width = 6, .dst_blocked = true},
      random);
  const WinogradConv conv(layer.desc, GetParam());
  const std::vector<float> map = layer.winograd(GetParam(), 1, {.low = 2});
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (i % static_cast<std::size_t>(conv.block()) < 3)
      EXPECT_GE(map[i], 2);
    else
      EXPECT_EQ(map[i], 0);
  }
}

TEST_P(Winograd, PacksTheWeightsOfAGradient) {
  std::mt19937 random(kSeed);
  // Weights of a convolution from 20 channels to 37 filters: its gradient goes the other way.
  const Layer layer(
      {.batch = 1, .channels = 37, .filters = 20, .height = 9, .width = 9, .pad_y = 1, .pad_x = 1},
      random);
  const WinogradConv conv(layer.desc, GetParam());
  std::vector<float> forward(layer.weights.size());  // (channel, filter), turned
  for (int64_t f = 0; f < 20; ++f)
    for (int64_t c = 0; c < 37; ++c)
      for (int64_t k = 0; k < 9; ++k)
        forward[static_cast<std::size_t>((c * 20 + f) * 9 + 8 - k)] =
            layer.weights[static_cast<std::size_t>((f * 37 + c) * 9 + k)];
  const Aligned own(conv.packed_bytes()), adjoint(conv.packed_bytes());
  conv.pack(layer.weights.data(), own.data(), 2);
  conv.pack(forward.data(), WinogradConv::WeightOrder::kAdjoint, adjoint.data(), 1);
  EXPECT_EQ(std::memcmp(own.data(), adjoint.data(), conv.packed_bytes()), 0);
}

TEST_P(Winograd, MultipliesFiltersByTheirScales) {
  std::mt19937 random(kSeed);
  const Layer layer(
      {.batch = 1, .channels = 20, .filters = 75, .height = 9, .width = 9, .pad_y = 1, .pad_x = 1},
      random);
  expect_scales_are_multiplied_in(WinogradConv(layer.desc, GetParam()), layer, random);
}

TEST_P(Winograd, AddsToItsOwnOutput) {
  std::mt19937 random(kSeed);
  const Layer layer(
      {.batch = 1, .channels = 16, .filters = 16, .height = 8, .width = 8, .pad_y = 1, .pad_x = 1},
      random);
  const WinogradConv conv(layer.desc, GetParam());
  const Aligned packed(conv.packed_bytes()), workspace(conv.workspace_bytes(1));
  conv.pack(layer.weights.data(), packed.data(), 1);
  std::vector<float> map = layer.sum;
  conv.run(layer.src.data(), packed.data(), {.sum = map.data()}, map.data(), workspace.data(), 1);
  std::vector<double> want = layer.direct();
  for (std::size_t i = 0; i < want.size(); ++i) want[i] += static_cast<double>(layer.sum[i]);
  EXPECT_LE(error_of(map, {want.begin(), want.end()}), 1e-5);
}

TEST_P(Winograd, ServesSeveralThreadsAtATime) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const Layer layer({.batch = 2,
                     .channels = 20,
                     .filters = 40,
                     .height = 30,
                     .width = 30,
                     .pad_y = 1,
                     .pad_x = 1,
                     .src_blocked = true,
                     .dst_blocked = true},
                    random);
  const WinogradConv conv(layer.desc, GetParam());
  const std::vector<float> src = blocked(layer.src, layer.in, conv.block());
  const Aligned packed(conv.packed_bytes());
  conv.pack(layer.weights.data(), packed.data(), 1);
  const std::vector<float> want = layer.winograd(GetParam(), 1);
  std::vector<std::vector<float>> maps(4, std::vector<float>(want.size()));
  std::barrier start(static_cast<std::ptrdiff_t>(maps.size()));
  {
    std::vector<std::jthread> users;
    for (std::vector<float>& map : maps) {
      users.emplace_back([&] {
        const Aligned workspace(conv.workspace_bytes(1));
        start.arrive_and_wait();
        conv.run(src.data(), packed.data(), {}, map.data(), workspace.data(), 1);
      });
    }
  }
  for (const std::vector<float>& map : maps) EXPECT_EQ(map, want);
}

TEST_P(Winograd, ReluKeepsNaN) {
  std::mt19937 random(kSeed);
  Layer layer({.batch = 1, .channels = 1, .filters = 1, .height = 4, .width = 4}, random);
  layer.src[5] = std::nanf("");
  for (const float value : layer.winograd(GetParam(), 1, {.low = 0}))
    EXPECT_TRUE(std::isnan(value));
}

TEST(WinogradDescription, NothingIsSupportedBelowAvx2) {
  const WinogradDesc good{.batch = 1, .channels = 1, .filters = 1, .height = 3, .width = 3};
  EXPECT_FALSE(WinogradConv::supported(good, Isa::kBaseline));
}

TEST(WinogradDescription, OthersAreNotSupported) {
  const WinogradDesc good{.batch = 1, .channels = 1, .filters = 1, .height = 3, .width = 3};
  EXPECT_EQ(WinogradConv::supported(good), WinogradConv::has(Isa::kAvx2));
  WinogradDesc bad = good;
  bad.src_narrow = true;
  EXPECT_FALSE(WinogradConv::supported(bad)) << "plain rows are float32";
  bad.src_blocked = true;
  bad.kernel_y = bad.kernel_x = 5;
  bad.tile = 2;
  bad.pad_y = bad.pad_x = 2;
  EXPECT_FALSE(WinogradConv::supported(bad)) << "only 3x3 meets bfloat16";
  bad.src_narrow = false;
  EXPECT_EQ(WinogradConv::supported(bad), WinogradConv::has(Isa::kAvx2));
  bad = good;
  bad.tile = 3;
  EXPECT_FALSE(WinogradConv::supported(bad));
  bad = good;
  bad.kernel_x = 5;
  EXPECT_FALSE(WinogradConv::supported(bad)) << "5x5 and 3x3, but not 3x5";
  bad = good;
  bad.kernel_y = bad.kernel_x = 1;
  EXPECT_FALSE(WinogradConv::supported(bad)) << "nothing to save";
  bad = good;
  bad.pad_x = 3;
  EXPECT_FALSE(WinogradConv::supported(bad));
  bad = good;
  bad.height = 2;  // an empty map
  EXPECT_FALSE(WinogradConv::supported(bad));
  bad = good;
  bad.batch = 0;
  EXPECT_FALSE(WinogradConv::supported(bad));
}

}  // namespace
}  // namespace mxnet
