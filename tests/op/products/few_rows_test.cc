// SPDX-License-Identifier: Apache-2.0
// Fully connected layers of a few rows against sums in float64, with all that may follow them.
#include "op/products/few_rows.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/simd.h"

namespace mxnet {
namespace {

struct Layer {
  int64_t rows, hidden, depth;
  std::vector<float> data, weight, bias, sum;

  Layer(int64_t rows_, int64_t hidden_, int64_t depth_)
      : rows(rows_), hidden(hidden_), depth(depth_) {
    uint32_t state = 1;
    for (auto [values, count] : {std::pair{&data, rows * depth},
                                 {&weight, hidden * depth},
                                 {&bias, hidden},
                                 {&sum, rows * hidden}}) {
      values->resize(static_cast<std::size_t>(count));
      for (float& value : *values) {
        state = state * 1664525 + 1013904223;
        value = static_cast<float>(state >> 8) / (1 << 23) - 1;
      }
    }
  }

  std::vector<float> run(const LayerPost& post) const {
    std::vector<float> out(static_cast<std::size_t>(rows * hidden), -7);
    multiply_few_rows(sizes(), data.data(), weight.data(), post, out.data());
    return out;
  }

  std::vector<double> expected(const LayerPost& post) const {
    std::vector<double> out;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t unit = 0; unit < hidden; ++unit) {
        double value = post.bias != nullptr ? post.bias[unit] : 0;
        for (int64_t k = 0; k < depth; ++k)
          value += double{data[static_cast<std::size_t>(r * depth + k)]} *
                   weight[static_cast<std::size_t>(unit * depth + k)];
        if (post.sum != nullptr) value += static_cast<const float*>(post.sum)[r * hidden + unit];
        if (value < 0) value *= double{post.slope};
        out.push_back(std::clamp(value, double{post.low}, double{post.high}));
      }
    }
    return out;
  }

 private:
  LayerSizes sizes() const { return {rows, hidden, depth}; }
};

void expect_near(const std::vector<float>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  // Sums of at most 1037 products of values up to one.
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 2e-4) << i;
}

TEST(FewRows, AreSumsOfProductsWhateverTheSizes) {
  for (int64_t rows = 1; rows <= kFewRows; ++rows)
    for (int64_t hidden : {1, 7, 8, 25})
      for (int64_t depth : {0, 1, 16, 65, 1037}) {
        SCOPED_TRACE(::testing::Message() << rows << ' ' << hidden << ' ' << depth);
        const Layer layer(rows, hidden, depth);
        expect_near(layer.run({}), layer.expected({}));
      }
}

TEST(FewRows, WhatFollowsIsDoneInItsOrder) {
  const Layer layer(3, 21, 100);
  for (const LayerPost& post :
       {LayerPost{.bias = layer.bias.data()}, LayerPost{.sum = layer.sum.data(), .low = 0},
        LayerPost{.bias = layer.bias.data(), .sum = layer.sum.data(), .slope = 0.25f},
        LayerPost{.bias = layer.bias.data(), .low = -1, .high = 2}})
    expect_near(layer.run(post), layer.expected(post));
}

TEST(FewRows, ANaNStaysOne) {
  Layer layer(2, 9, 33);
  layer.data[40] = NAN;  // of the second row
  const std::vector<float> out = layer.run({.low = 0, .high = 6});
  for (std::size_t unit = 0; unit < 9; ++unit) {
    EXPECT_FALSE(std::isnan(out[unit]));
    EXPECT_TRUE(std::isnan(out[9 + unit]));
  }
}

template <class Narrow>
void expect_the_weight_alone_to_be_rounded() {
  for (int64_t rows = 1; rows <= kFewRows; ++rows)
    for (int64_t hidden : {1, 8, 25})
      for (int64_t depth : {0, 1, 7, 16, 65, 1037}) {
        SCOPED_TRACE(::testing::Message() << rows << ' ' << hidden << ' ' << depth);
        Layer layer(rows, hidden, depth);
        const std::vector<Narrow> narrow(layer.weight.begin(), layer.weight.end());
        std::ranges::copy(narrow, layer.weight.begin());
        const LayerPost post{.bias = layer.bias.data(), .sum = layer.sum.data(), .low = 0};
        std::vector<float> out(static_cast<std::size_t>(rows * hidden), -7);
        multiply_few_rows({rows, hidden, depth}, layer.data.data(), narrow.data(), post,
                          out.data());
        expect_near(out, layer.expected(post));
      }
}

TEST(FewRows, OfAWeightInBFloat16TheWeightAloneIsRounded) {
  if (!has_narrow_few_rows()) GTEST_SKIP() << "needs AVX-512";
  expect_the_weight_alone_to_be_rounded<bfloat16>();
}

TEST(FewRows, OfAWeightInFloat16TheWeightAloneIsRounded) {
  ASSERT_EQ(has_half_few_rows(), simd_level() > 0);
  if (has_half_few_rows()) expect_the_weight_alone_to_be_rounded<float16>();
}

TEST(FewRows, ThreadsDoNotChangeABit) {
  const Layer layer(2, 403, 1037);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::vector<float> one = layer.run({});
  for (int threads : {2, 3, 5}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(layer.run({}), one) << threads;
  }
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace mxnet
