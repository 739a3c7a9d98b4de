// SPDX-License-Identifier: Apache-2.0
// Winograd convolutions whose products are of bfloat16: as close to the convolution as their
// rounding lets them be, whatever the sizes, and the same on any number of threads.
#include "op/nn/winograd_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "op/nn/winograd_layer.h"

namespace mxnet {
namespace {

constexpr auto kIsa = WinogradConv::Isa::kAvx512;

class WinogradPairs : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_winograd_pairs()) GTEST_SKIP() << "needs AVX512_BF16";
  }
};

// 3x3 with pads, small tiles, and arrays of float32 so that only products are rounded.
WinogradDesc described(int64_t batch, int64_t channels, int64_t filters, int64_t height,
                       int64_t width) {
  return {.batch = batch,
          .channels = channels,
          .filters = filters,
          .height = height,
          .width = width,
          .pad_y = 1,
          .pad_x = 1,
          .tile = 2,
          .src_blocked = true,
          .dst_blocked = true,
          .pairs = true};
}

void round_all(std::vector<float>& values) {
  for (float& value : values) value = bfloat16(value);
}

double root_mean_square(const std::vector<float>& got, const std::vector<float>& want) {
  double sum = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = static_cast<double>(got[i]) - static_cast<double>(want[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(want.size()));
}

TEST_F(WinogradPairs, AreTheConvolutionForAnySizesAndLayouts) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 60; ++round) {
    WinogradDesc d =
        described(1 + below(3), 2 + 2 * below(30), 1 + below(70), 1 + below(20), 1 + below(44));
    d.pad_y = below(3);
    d.pad_x = below(3);
    d.src_blocked = below(2) == 0;
    d.dst_blocked = below(2) == 0;
    if (!WinogradConv::supported(d, kIsa)) continue;
    const Layer layer(d, random);
    const WinogradConv conv(d, kIsa);
    const int threads = 1 + static_cast<int>(random() % 3);
    EXPECT_LE(error_of(layer.winograd(kIsa, threads), layer.laid_out(layer.direct(), conv)), 0.02)
        << text(d) << " threads " << threads;
  }
}

TEST_F(WinogradPairs, LoseLittleMoreThanTwiceWhatDirectOnesLose) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (const auto& [channels, size] : {std::pair{64, 28}, {256, 14}}) {
    Layer layer(described(1, channels, 32, size, size), random);
    round_all(layer.src);
    const WinogradConv conv(layer.desc, kIsa);
    const std::vector<float> want = layer.laid_out(layer.direct(), conv);
    const std::vector<float> got = layer.winograd(kIsa, 1);
    round_all(layer.weights);  // all that direct products of bfloat16 lose before the map is stored
    const std::vector<float> direct = layer.laid_out(layer.direct(), conv);
    EXPECT_LE(root_mean_square(got, want), 2.7 * root_mean_square(direct, want)) << channels;
    EXPECT_LE(error_of(got, want), 0.007) << channels;
  }
}

TEST_F(WinogradPairs, ManyChannelsAreAddedUpInParts) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const Layer layer(described(1, 1102, 40, 9, 9), random);
  const WinogradConv conv(layer.desc, kIsa);
  EXPECT_LE(error_of(layer.winograd(kIsa, 1), layer.laid_out(layer.direct(), conv)), 0.008);
}

TEST_F(WinogradPairs, ThreadsDoNotChangeABit) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  // Tiles for each thread; too few, so that filters are divided; and tiles one by one as well.
  for (const auto& [height, width, filters] :
       {std::tuple{61, 50, 80}, {7, 50, 80}, {7, 50, 20}, {4, 6, 20}}) {
    const Layer layer(described(2, 34, filters, height, width), random);
    const std::vector<float> one = layer.winograd(kIsa, 1);
    for (const int threads : {2, 3, 5, 16})
      EXPECT_EQ(layer.winograd(kIsa, threads), one)
          << threads << " threads, height " << height << ", filters " << filters;
  }
}

TEST_F(WinogradPairs, NarrowArraysAreRoundedAndWhatFollowsIsApplied) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  Layer layer(described(2, 18, 37, 11, 19), random);
  round_all(layer.src);
  round_all(layer.sum);
  const LayerPost post{.bias = layer.bias.data(), .sum = layer.sum.data(), .low = 0};
  std::vector<float> want = layer.winograd(kIsa, 2, post);
  std::vector<double> exact = layer.direct();
  const int64_t plane = layer.out.height * layer.out.width;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const auto filter = static_cast<std::size_t>(static_cast<int64_t>(i) / plane % 37);
    exact[i] = std::max(0.0, exact[i] + static_cast<double>(layer.bias[filter]) +
                                 static_cast<double>(layer.sum[i]));
  }
  EXPECT_LE(error_of(want, layer.laid_out(exact, WinogradConv(layer.desc, kIsa))), 0.02);
  round_all(want);
  layer.desc.src_narrow = layer.desc.dst_narrow = true;
  EXPECT_EQ(layer.winograd(kIsa, 2, post), want);
}

TEST_F(WinogradPairs, NaNAndInfinityStayInTheirTiles) {
  std::mt19937 random(kSeed);
  for (const float value : {std::nanf(""), INFINITY, -INFINITY}) {
    Layer layer(described(1, 16, 32, 12, 12), random);
    layer.src[static_cast<std::size_t>(index(layer.in, 0, 3, 5, 6))] = value;
    layer.desc.dst_blocked = false;
    const std::vector<float> map = layer.winograd(kIsa, 1, {.low = 0});
    for (int64_t f = 0; f < 32; ++f) {
      for (int64_t y = 0; y < 12; ++y) {
        for (int64_t x = 0; x < 12; ++x) {
          const float at = map[static_cast<std::size_t>(index(layer.out, 0, f, y, x))];
          // Tiles of rows 4 and 5 and of 6 and 7 read row 5, as those of columns do column 6.
          const bool near = y >= 4 && y < 8 && x >= 4 && x < 8;
          if (!near) {
            EXPECT_TRUE(std::isfinite(at)) << y << " " << x;
          }
          const bool under = y >= 4 && y < 7 && x >= 5 && x < 8;
          if (under) {
            EXPECT_FALSE(std::isfinite(at) && at > 0) << y << " " << x;
          }
          if (under && std::isnan(value)) {
            EXPECT_TRUE(std::isnan(at)) << y << " " << x;
          }
        }
      }
    }
  }
}

TEST_F(WinogradPairs, PackTheWeightsOfAGradient) {
  std::mt19937 random(kSeed);
  const Layer layer(described(1, 38, 20, 9, 9), random);
  const WinogradConv conv(layer.desc, kIsa);
  std::vector<float> forward(layer.weights.size());  // (channel, filter), turned
  for (std::size_t f = 0; f < 20; ++f)
    for (std::size_t c = 0; c < 38; ++c)
      for (std::size_t k = 0; k < 9; ++k)
        forward[(c * 20 + f) * 9 + 8 - k] = layer.weights[(f * 38 + c) * 9 + k];
  const Aligned own(conv.packed_bytes()), adjoint(conv.packed_bytes());
  conv.pack(layer.weights.data(), own.data(), 2);
  conv.pack(forward.data(), WinogradConv::WeightOrder::kAdjoint, adjoint.data(), 1);
  EXPECT_EQ(std::memcmp(own.data(), adjoint.data(), conv.packed_bytes()), 0);
}

TEST_F(WinogradPairs, FiltersAreMultipliedByTheirScales) {
  std::mt19937 random(kSeed);
  const Layer layer(described(1, 20, 75, 9, 9), random);
  expect_scales_are_multiplied_in(WinogradConv(layer.desc, kIsa), layer, random);
}

TEST(WinogradPairsDescription, SmallTilesOfEvenChannelsOnProcessorsThatHaveThem) {
  const WinogradDesc good = described(1, 16, 16, 9, 9);
  EXPECT_EQ(WinogradConv::supported(good), has_winograd_pairs());
  WinogradDesc bad = good;
  bad.channels = 15;
  EXPECT_FALSE(WinogradConv::supported(bad));
  bad = good;
  bad.tile = 4;
  EXPECT_FALSE(WinogradConv::supported(bad));
  if (WinogradConv::has(WinogradConv::Isa::kAvx2)) {
    EXPECT_FALSE(WinogradConv::supported(good, WinogradConv::Isa::kAvx2));
  }
}

}  // namespace
}  // namespace mxnet
