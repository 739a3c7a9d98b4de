// SPDX-License-Identifier: Apache-2.0
// Numbers drawn by vectors are those drawn one by one from the same words, and the stream goes on
// at the same word.
#include "op/random/bulk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "op/generators/random_draws.h"

namespace mxnet {
namespace {

constexpr uint32_t kSeed = 20261120;

// `fill` draws by vectors, `one` a number by itself.
template <class Fill, class One>
void expect_same(const Fill& fill, const One& one) {
  for (const int64_t n : {0, 1, 2, 15, 16, 17, 511, 512, 513, 1025, 5000, 100000}) {
    Mt19937 bulk(kSeed), single(kSeed);
    std::vector<float> got(static_cast<std::size_t>(n));
    fill(bulk, got.data(), n);
    {
      Draws draws(single);
      for (float value : got) {
        const float expected = one(draws);
        ASSERT_NEAR(value, expected, 1e-6f * (1 + std::fabs(expected)))
            << n << " numbers, seed " << kSeed;
      }
    }
    uint32_t after_bulk, after_single;
    bulk.fill(&after_bulk, 1);
    single.fill(&after_single, 1);
    EXPECT_EQ(after_bulk, after_single) << n << " numbers, seed " << kSeed;
  }
}

TEST(BulkDraws, NormalNumbersAreThoseDrawnOneByOne) {
  expect_same([](Mt19937& stream, float* out, int64_t n) { fill_normal(stream, out, n, 0.5f, 2); },
              [](Draws& draws) { return draws.normal<float>() * 2 + 0.5f; });
}

TEST(BulkDraws, ExponentialNumbersAreThoseDrawnOneByOne) {
  expect_same(
      [](Mt19937& stream, float* out, int64_t n) { fill_exponential(stream, out, n, 0.7f); },
      [](Draws& draws) { return static_cast<float>(draws.exponential<float>() / 0.7f); });
}

// From shapes whose tries often end early to those whose never do.
TEST(BulkDraws, GammaNumbersAreThoseDrawnOneByOne) {
  for (const float alpha : {1.0f, 1.25f, 2.5f, 40.0f, 3e3f, 2e6f}) {
    expect_same([&](Mt19937& stream, float* out,
                    int64_t n) { EXPECT_TRUE(fill_gamma(stream, out, n, alpha, 3.0f)); },
                [&](Draws& draws) { return draws.gamma<float>(alpha, 3.0f); });
  }
}

TEST(BulkDraws, GammaNumbersOfSmallShapesAreLeftAlone) {
  Mt19937 stream(kSeed), untouched(kSeed);
  float out = -1;
  for (const float alpha : {0.5f, -1.0f, std::nanf(""), INFINITY})
    EXPECT_FALSE(fill_gamma(stream, &out, 1, alpha, 1.0f));
  uint32_t word, expected;
  stream.fill(&word, 1);
  untouched.fill(&expected, 1);
  EXPECT_EQ(word, expected);
}

}  // namespace
}  // namespace mxnet
