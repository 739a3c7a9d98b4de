// SPDX-License-Identifier: Apache-2.0
// Gradients of weights by Winograd's method are those of the convolution: for any size, instruction
// set and number of threads, about as exact as a direct sum in float32.
#include "op/nn/winograd_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "op/nn/winograd_layer.h"

namespace mxnet {
namespace {

using Isa = WinogradConv::Isa;

// Weights, then the bias.
using Gradients = std::pair<std::vector<float>, std::vector<float>>;

// `layer.sum` stands for the gradient of the map.
Gradients winograd(const Layer& layer, Isa isa, int threads) {
  const WinogradDesc& d = layer.desc;
  const WinogradConv conv(d, isa);
  const WinogradWeightGradient gradient(d, isa);
  const std::vector<float> src = blocked(layer.src, layer.in, conv.block());
  const std::vector<float> dmap = blocked(layer.sum, layer.out, conv.block());
  const Aligned workspace(gradient.workspace_bytes(threads));
  Gradients to{std::vector<float>(layer.weights.size(), std::nanf("")),
               std::vector<float>(layer.bias.size(), std::nanf(""))};
  gradient.run(src.data(), dmap.data(), to.first.data(), to.second.data(), workspace.data(),
               threads);
  return to;
}

// Added up in T.
template <class T>
Gradients direct(const Layer& layer) {
  const WinogradDesc& d = layer.desc;
  Gradients to;
  for (int64_t f = 0; f < d.filters; ++f) {
    T pixels = 0;
    for (int64_t i = 0; i < layer.out.batch * layer.out.height * layer.out.width; ++i) {
      const int64_t plane = layer.out.height * layer.out.width;
      pixels += static_cast<T>(
          layer.sum[static_cast<std::size_t>((i / plane * d.filters + f) * plane + i % plane)]);
    }
    to.second.push_back(static_cast<float>(pixels));
    for (int64_t c = 0; c < d.channels; ++c) {
      for (int64_t k = 0; k < 9; ++k) {
        const int64_t down = k / 3 - d.pad_y, right = k % 3 - d.pad_x;
        const int64_t first = std::max<int64_t>(-right, 0),
                      last = std::min(layer.out.width, d.width - right);
        T sum = 0;
        for (int64_t n = 0; n < d.batch; ++n) {
          for (int64_t y = std::max<int64_t>(-down, 0);
               y < std::min(layer.out.height, d.height - down); ++y) {
            // By pointers: builds for sanitizers do not optimise tests.
            const float* dmap = layer.sum.data() + index(layer.out, n, f, y, 0);
            const float* src = layer.src.data() + index(layer.in, n, c, y + down, 0);
            for (int64_t x = first; x < last; ++x)
              sum += static_cast<T>(src[x + right]) * static_cast<T>(dmap[x]);
          }
        }
        to.first.push_back(static_cast<float>(sum));
      }
    }
  }
  return to;
}

WinogradDesc in_blocks(WinogradDesc d) {
  d.src_blocked = d.dst_blocked = true;
  return d;
}

class WinogradGradient : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!WinogradConv::has(GetParam())) GTEST_SKIP() << "this CPU lacks the instructions";
  }
};
INSTANTIATE_TEST_SUITE_P(Sets, WinogradGradient, testing::Values(Isa::kAvx2, Isa::kAvx512));

TEST_P(WinogradGradient, IsThatOfTheConvolutionForAnySize) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 20; ++round) {
    const WinogradDesc d = in_blocks({.batch = 1 + below(3),
                                      .channels = 1 + below(40),
                                      .filters = 1 + below(50),
                                      .height = 1 + below(20),
                                      .width = 1 + below(30),
                                      .pad_y = below(3),
                                      .pad_x = below(3)});
    if (!WinogradConv::supported(d)) continue;
    const Layer layer(d, random);
    const int threads = 1 + static_cast<int>(below(4));
    const Gradients got = winograd(layer, GetParam(), threads), want = direct<double>(layer);
    EXPECT_LE(error_of(got.first, want.first), 1e-5) << text(d) << " threads " << threads;
    EXPECT_LE(error_of(got.second, want.second), 1e-5) << text(d) << " threads " << threads;
  }
}

TEST_P(WinogradGradient, ThreadsAndCutsDoNotChangeABit) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  // More tiles than are transformed at a time.
  const Layer layer(in_blocks({.batch = 3,
                               .channels = 40,
                               .filters = 72,
                               .height = 60,
                               .width = 66,
                               .pad_y = 1,
                               .pad_x = 1}),
                    random);
  const Gradients one = winograd(layer, GetParam(), 1);
  for (const int threads : {2, 3, 4, 6, 16})
    EXPECT_EQ(winograd(layer, GetParam(), threads), one) << threads << " threads";
}

TEST_P(WinogradGradient, IsAsExactAsSumsInFloat32) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const Layer layer(in_blocks({.batch = 4,
                               .channels = 32,
                               .filters = 32,
                               .height = 40,
                               .width = 40,
                               .pad_y = 1,
                               .pad_x = 1}),
                    random);
  const std::vector<float> want = direct<double>(layer).first;
  const double error = error_of(winograd(layer, GetParam(), 1).first, want);
  EXPECT_LE(error, 4 * error_of(direct<float>(layer).first, want));
  RecordProperty("error", testing::PrintToString(error));
}

}  // namespace
}  // namespace mxnet
