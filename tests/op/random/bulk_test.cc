// SPDX-License-Identifier: Apache-2.0
// Numbers drawn by vectors are those drawn one by one from the same words, and the stream goes on
// at the same word.
#include "op/random/bulk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "op/generators/random_draws.h"
#include "op/random/poisson.h"

namespace mxnet {
namespace {

constexpr uint32_t kSeed = 20261120;

// `fill` draws by vectors, `one` a number by itself, of which those may be `off`.
template <class Fill, class One>
void expect_same(const Fill& fill, const One& one, float off = 1e-6f) {
  for (const int64_t n : {0, 1, 2, 15, 16, 17, 511, 512, 513, 1025, 5000, 100000}) {
    Mt19937 bulk(kSeed), single(kSeed);
    std::vector<float> got(static_cast<std::size_t>(n));
    fill(bulk, got.data(), n);
    {
      Draws draws(single);
      for (float value : got) {
        const float expected = one(draws);
        ASSERT_NEAR(value, expected, off * (1 + std::fabs(expected)))
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

// One of 300 is another one where the logarithm is rounded right.
TEST(BulkDraws, StandardNormalNumbersAreThoseDrawnOneByOneToTheLastPlace) {
  expect_same([](Mt19937& stream, float* out, int64_t n) { fill_standard_normal(stream, out, n); },
              [](Draws& draws) { return draws.normal<float>(); }, 0);
}

TEST(BulkDraws, ExponentialNumbersAreThoseDrawnOneByOne) {
  expect_same(
      [](Mt19937& stream, float* out, int64_t n) { fill_exponential(stream, out, n, 0.7f); },
      [](Draws& draws) { return static_cast<float>(draws.exponential<float>() / 0.7f); });
}

// The same numbers to the last bit, whose means are small, or fill the table of likelihoods, leave
// it at its ends and are beyond it.
TEST(BulkDraws, PoissonNumbersAreThoseDrawnOneByOne) {
  for (const float mean :
       {0.0f, 0.3f, 5.0f, 11.99f, 12.0f, 12.5f, 50.0f, 300.25f, 1e5f, 3e8f, 1e20f, 1e30f}) {
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
  for (const float mean : {2e30f, -1.0f, INFINITY, NAN})
    EXPECT_FALSE(fill_poisson(stream, &number, 1, mean)) << mean;
  uint32_t after, expected;
  stream.fill(&after, 1);
  untouched.fill(&expected, 1);
  EXPECT_EQ(after, expected);
}

// Means of all kinds: few and many below the least that candidates are drawn for, above those of
// the series, none (0, of 0 successes) and NaN.
TEST(BulkDraws, PoissonNumbersOfGammaMeansAreThoseDrawnOneByOne) {
  struct Shape {
    float alpha, beta;
  };
  for (const auto [alpha, beta] :
       {Shape{3, 1.5f}, Shape{0.3f, 40}, Shape{2, 99}, Shape{40, 2}, Shape{5000, 1}, Shape{3, 1e5f},
        Shape{0, 1}, Shape{3, INFINITY}, Shape{NAN, 1}, Shape{INFINITY, 1}, Shape{1, 0}}) {
    for (const int64_t n : {0, 1, 2, 63, 700, 100000}) {
      Mt19937 bulk(kSeed), single(kSeed);
      std::vector<float> got(static_cast<std::size_t>(n));
      fill_gamma_poisson(bulk, got.data(), n, alpha, beta);
      {
        Draws draws(single);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const float expected = draws.poisson(draws.gamma<float>(alpha, beta));
          ASSERT_TRUE(got[i] == expected || (std::isnan(got[i]) && std::isnan(expected)))
              << i << " of " << n << ", alpha " << alpha << ", beta " << beta << ": " << got[i]
              << ", not " << expected;
        }
      }
      uint32_t after_bulk, after_single;
      bulk.fill(&after_bulk, 1);
      single.fill(&after_single, 1);
      EXPECT_EQ(after_bulk, after_single) << n << " numbers, alpha " << alpha << ", beta " << beta;
    }
  }
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

// All exponents that squares of radii have, more numbers next to 1, and any number of them.
TEST(BulkDraws, LogarithmsOfDoublesAreThoseOfTheCLibrary) {
  std::vector<double> x{1.0, 1 - 0x1p-53, 0.5, 0x1p-126};
  Mt19937 stream(kSeed);
  Draws draws(stream);
  for (int i = 0; i < 3000000; ++i) {
    const double u = 1.0 - draws.uniform<double>();
    x.push_back(i % 3 == 0   ? u
                : i % 3 == 1 ? 1.0 - std::ldexp(u, -i % 40)
                             : std::ldexp(u, -i % 120));
    if (x.back() == 0) x.pop_back();
  }
  std::vector<double> got(x.size());
  const auto count = static_cast<int64_t>(x.size());
  for (int64_t i = 0; i < count; i += kMostLogs)
    logs_of_doubles(x.data() + i, got.data() + i, std::min(kMostLogs, count - i));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got[i], std::log(x[i])) << x[i];
  for (const std::size_t n : {0, 1, 7, 8, 9, 17}) {
    got.assign(n + 1, 7.0);
    logs_of_doubles(x.data() + 4, got.data(), static_cast<int64_t>(n));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], std::log(x[i + 4])) << i << " of " << n;
    EXPECT_EQ(got[n], 7.0) << n;
  }
}

// The same bits, any number of them.
TEST(BulkDraws, ExponentialNumbersOfDoublesAreThoseDrawnOneByOne) {
  for (const int64_t n : {0, 1, 3, 4, 5, 8, 9, 500, 512}) {
    Mt19937 bulk(kSeed), single(kSeed);
    std::vector<uint32_t> words(static_cast<std::size_t>(2 * n));
    bulk.fill(words.data(), 2 * n);
    std::vector<double> got(static_cast<std::size_t>(n + 1), -1.0);
    exponentials_of_doubles(words.data(), n, 0.7, got.data());
    Draws draws(single);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      ASSERT_EQ(got[i], draws.exponential<double>() / 0.7) << i << " of " << n;
    EXPECT_EQ(got.back(), -1.0) << n;
  }
}

// From shapes whose tries often end early to those whose never do.
TEST(BulkDraws, GammaNumbersAreThoseDrawnOneByOne) {
  for (const float alpha : {1.0f, 1.25f, 2.5f, 40.0f, 3e3f, 2e6f}) {
    expect_same([&](Mt19937& stream, float* out,
                    int64_t n) { EXPECT_TRUE(fill_gamma(stream, out, n, alpha, 3.0f)); },
                [&](Draws& draws) { return draws.gamma<float>(alpha, 3.0f); });
  }
}

// The logarithm in double, rounded.
float rounded_log(float x) { return static_cast<float>(std::log(double{x})); }
float normal_of(float y, float square) {
  return y * std::sqrt(-2.0f * rounded_log(square) / square);
}
float normal_of(Draws& draws) {
  const auto point = draws.point_in_circle<float>();
  return normal_of(point.y, point.square);
}

// RandomNumbers::gamma() with such logarithms.
float gamma_of(Draws& draws, float alpha, float beta) {
  const auto d = static_cast<float>(alpha - 1.0 / 3.0), k = static_cast<float>(std::sqrt(9.0 * d)),
             c = static_cast<float>(1.0 / k);
  for (;;) {
    const float z = normal_of(draws);
    if (z <= -k) continue;
    const float w = 1.0f + c * z, v = w * w * w;
    const double left = std::log(1.0 - double{draws.uniform<float>()});
    if (left < 0.5 * z * z + d * (1.0 - v + rounded_log(v))) return d * v * beta;
  }
}

TEST(BulkDraws, NormalNumbersHaveAllDigits) {
  // The square of the radius of a point of the second stream is 1, of one of the third 4e-8.
  for (const uint32_t seed : {kSeed, 646u, 1139u}) {
    Mt19937 bulk(seed), single(seed);
    std::vector<float> got(seed == kSeed ? 1000000 : 40000);
    fill_normal(bulk, got.data(), static_cast<int64_t>(got.size()), 0, 1);
    float least = 1, most = 0;
    Draws draws(single);
    for (float value : got) {
      const auto point = draws.point_in_circle<float>();
      const float expected = normal_of(point.y, point.square);
      ASSERT_EQ(value, expected) << "seed " << seed << ", square " << point.square;
      ASSERT_EQ(std::signbit(value), std::signbit(expected))
          << "seed " << seed << ", square " << point.square;
      least = std::min(least, point.square);
      most = std::max(most, point.square);
    }
    EXPECT_TRUE(seed != 646 || most == 1);
    EXPECT_TRUE(seed != 1139 || least < 0x1p-24f);
  }
}

// Both numbers of a point, any number of them; an odd one leaves the last point's second one
// behind.
TEST(BulkDraws, NumbersOfPairsAreThoseOfThePointsDrawnOneByOne) {
  for (const uint32_t seed : {kSeed, 646u, 1139u}) {
    for (const std::size_t n : {0, 1, 2, 3, 511, 512, 513, 1023, 1025, 80001}) {
      Mt19937 bulk(seed), single(seed);
      std::vector<float> got(n + n % 2);
      fill_normal_pairs(bulk, got.data(), static_cast<int64_t>(n));
      {
        Draws draws(single);
        for (std::size_t i = 0; i < n; i += 2) {
          const auto point = draws.point_in_circle<float>();
          ASSERT_EQ(got[i], normal_of(point.y, point.square)) << i << " of " << n;
          ASSERT_EQ(got[i + 1], normal_of(point.x, point.square)) << i + 1 << " of " << n;
        }
      }
      uint32_t after_bulk, after_single;
      bulk.fill(&after_bulk, 1);
      single.fill(&after_single, 1);
      EXPECT_EQ(after_bulk, after_single) << n << " numbers, seed " << seed;
    }
  }
}

// Also of shapes for which what is drawn by floats is hardly ever sure.
TEST(BulkDraws, GammaNumbersHaveAllDigits) {
  for (const float alpha :
       {1.0f, 1.0000001f, 1.1f, 1.7f, 2.5f, 6.0f, 300.0f, 1e5f, 3e8f, 1e20f, 3e38f}) {
    for (const float beta : {1.0f, 0.3f}) {
      Mt19937 bulk(kSeed), single(kSeed);
      std::vector<float> got(beta == 1 ? 200000 : 777);
      EXPECT_TRUE(fill_gamma(bulk, got.data(), static_cast<int64_t>(got.size()), alpha, beta));
      Draws draws(single);
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], gamma_of(draws, alpha, beta)) << "shape " << alpha << ", number " << i;
    }
  }
}

// One after the other and in parts of any length they are the same, and nothing behind is written.
TEST(BulkDraws, GammaNumbersOfPartsContinueTheStream) {
  Mt19937 bulk(kSeed), parts(kSeed), lengths(kSeed + 1);
  std::vector<float> expected(30000), got(expected.size() + 1);
  EXPECT_TRUE(fill_gamma(bulk, expected.data(), static_cast<int64_t>(expected.size()), 1.0f, 1.0f));
  for (std::size_t i = 0; i < expected.size();) {
    uint32_t word;
    lengths.fill(&word, 1);
    const std::size_t n =
        std::min<std::size_t>(expected.size() - i, word % 4 == 0 ? word / 4 % 3000 : word / 4 % 40);
    got[i + n] = -1;
    EXPECT_TRUE(fill_gamma(parts, got.data() + i, static_cast<int64_t>(n), 1.0f, 1.0f));
    ASSERT_EQ(got[i + n], -1) << "number " << i;
    for (const std::size_t end = i + n; i < end; ++i)
      ASSERT_EQ(got[i], expected[i]) << "number " << i;
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
