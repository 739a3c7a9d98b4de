// SPDX-License-Identifier: Apache-2.0
// Runs of numbers of double are those of the same words of the stream drawn one by one, bit for
// bit, and the stream goes on at the same word.
#include "op/random/fill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace mxnet {
namespace {

constexpr uint32_t kSeed = 20261130;

template <class Dist>
void expect_same(float first, float second) {
  // An odd number of words before: a number may begin with the last word of a state.
  for (const int64_t before : {0, 1, 2, 555}) {
    for (const int64_t n : {0, 1, 2, 63, 64, 65, 255, 256, 257, 1000, 30000}) {
      Mt19937 bulk(kSeed), single(kSeed);
      std::vector<uint32_t> words(static_cast<std::size_t>(before));
      bulk.fill(words.data(), before);
      single.fill(words.data(), before);
      std::vector<double> got(static_cast<std::size_t>(n));
      fill<Dist>(bulk, got.data(), n, first, second);
      {
        Draws draws(single);
        const double a = first, b = second;
        for (std::size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got[i], Dist::template draw<double>(draws, a, b))
              << i << " of " << n << " numbers behind " << before << " words";
      }
      uint32_t after_bulk, after_single;
      bulk.fill(&after_bulk, 1);
      single.fill(&after_single, 1);
      EXPECT_EQ(after_bulk, after_single) << n << " numbers behind " << before << " words";
    }
  }
}

TEST(RunsOfDoubles, UniformNumbersAreThoseDrawnOneByOne) {
  expect_same<samplers::Uniform>(-0.3f, 1.7f);
}

TEST(RunsOfDoubles, NormalNumbersAreThoseDrawnOneByOne) {
  expect_same<samplers::Normal>(0.5f, 2.0f);
}

TEST(RunsOfDoubles, ExponentialNumbersAreThoseDrawnOneByOne) {
  expect_same<samplers::Exponential>(0.7f, 0.0f);
}

// RandomNumbers::gamma() without the bound below which it takes no logarithm.
double gamma_of(Draws& draws, double alpha) {
  const double d = alpha < 1 ? alpha + 2.0 / 3.0 : alpha - 1.0 / 3.0, k = std::sqrt(9 * d);
  for (;;) {
    const auto z = draws.normal<double>();
    if (z <= -k) continue;
    const double w = 1 + 1 / k * z, v = w * w * w;
    const double left = std::log(1 - draws.uniform<double>());
    if (!(left < 0.5 * z * z + d * (1 - v + std::log(v)))) continue;
    return alpha < 1 ? d * v * std::pow(draws.uniform<double>(), 1 / alpha) : d * v;
  }
}

// Also of shapes for which the bound is not used.
TEST(RunsOfDoubles, GammaNumbersAreThoseDrawnOneByOne) {
  for (const float alpha : {0.125f, 1.0f, 1.25f, 2.5f, 40.0f, 3e3f, 2e6f}) {
    expect_same<samplers::Gamma>(alpha, 3.0f);
    Mt19937 bulk(kSeed), single(kSeed);
    std::vector<double> got(200000);
    fill<samplers::Gamma>(bulk, got.data(), static_cast<int64_t>(got.size()), alpha, 1.0f);
    Draws draws(single);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], gamma_of(draws, double{alpha})) << "shape " << alpha << ", number " << i;
  }
}

}  // namespace
}  // namespace mxnet
