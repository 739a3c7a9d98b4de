// SPDX-License-Identifier: Apache-2.0
// Numbers drawn by vectors are those drawn one by one from the same words, and the stream goes on
// at the same word.
#include "op/random/bulk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "op/generators/random_draws.h"
#include "op/random/poisson.h"

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

// The same numbers to the last bit, whose means fill the table of likelihoods, leave it at its ends
// and are beyond it.
TEST(BulkDraws, PoissonNumbersAreThoseDrawnOneByOne) {
  for (const float mean : {12.0f, 12.5f, 50.0f, 300.25f, 1e5f, 3e8f, 1e20f, 1e30f}) {
    for (const int64_t n : {0, 1, 2, 63, 64, 65, 700, 30000}) {
      Mt19937 bulk(kSeed), single(kSeed);
      std::vector<float> got(static_cast<std::size_t>(n));
      ASSERT_TRUE(fill_poisson(bulk, got.data(), n, mean));
      {
        Draws draws(single);
        for (std::size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got[i], draws.poisson(mean)) << i << " of " << n << ", mean " << mean;
      }
      uint32_t after_bulk, after_single;
      bulk.fill(&after_bulk, 1);
      single.fill(&after_single, 1);
      EXPECT_EQ(after_bulk, after_single) << n << " numbers, mean " << mean;
    }
  }
}

TEST(BulkDraws, PoissonNumbersOfOtherMeansAreLeftAlone) {
  Mt19937 stream(kSeed), untouched(kSeed);
  float number;
  for (const float mean : {0.0f, 11.99f, 2e30f, -1.0f, INFINITY, NAN})
    EXPECT_FALSE(fill_poisson(stream, &number, 1, mean)) << mean;
  uint32_t after, expected;
  stream.fill(&after, 1);
  untouched.fill(&expected, 1);
  EXPECT_EQ(after, expected);
}

// The ends of the words, those about a quarter of a turn, and some of all others; any number of
// them.
TEST(BulkDraws, TangentsOfHalfTurnsAreThoseOfTheCLibrary) {
  std::vector<uint32_t> words;
  for (const uint32_t middle : {0u, 0x40000000u, 0x80000000u, 0xc0000000u})
    for (uint32_t i = 0; i < 5000; ++i) words.push_back(middle - 2500 + i);
  for (uint32_t i = 0; i < 1000003; ++i) words.push_back(i * 4294u + i);
  std::vector<float> got(words.size());
  const auto count = static_cast<int64_t>(words.size());
  if (!half_turn_tangents(words.data(), count, got.data())) GTEST_SKIP() << "none on this CPU";
  for (std::size_t i = 0; i < words.size(); ++i)
    ASSERT_EQ(got[i], half_turn_tangent(words[i])) << words[i];
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
