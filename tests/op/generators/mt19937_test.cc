// SPDX-License-Identifier: Apache-2.0
// The vectorised Mersenne Twister gives the numbers of the standard one, however they are asked
// for.
#include "op/generators/mt19937.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "op/generators/random_draws.h"

namespace mxnet {
namespace {

constexpr uint32_t kSeed = 20240607;

TEST(Mt19937, EqualsTheStandardEngine) {
  for (uint32_t seed : {0u, 1u, 5489u, 0xffffffffu}) {
    Mt19937 engine(seed);
    std::mt19937 standard(seed);
    std::vector<uint32_t> words(5000);
    engine.fill(words.data(), static_cast<int64_t>(words.size()));
    for (uint32_t word : words) ASSERT_EQ(word, standard()) << "seed " << seed;
  }
}

TEST(Mt19937, PartsOfAnyLengthContinueTheStream) {
  Mt19937 engine(kSeed);
  std::mt19937 standard(kSeed);
  std::mt19937 lengths(kSeed);
  for (int part = 0; part < 200; ++part) {
    std::vector<uint32_t> words(lengths() % 900);
    engine.fill(words.data(), static_cast<int64_t>(words.size()));
    for (uint32_t word : words) ASSERT_EQ(word, standard()) << "part " << part;
  }
}

TEST(Mt19937, UniformNumbersAreWordsScaledAndStayBelowTheEnd) {
  Mt19937 engine(kSeed);
  std::mt19937 standard(kSeed);
  std::vector<float> numbers(3000);
  engine.fill_uniform(numbers.data(), static_cast<int64_t>(numbers.size()), -1.5f, 3.75f);
  for (float number : numbers) {
    const float u = std::min(static_cast<float>(standard()) * 0x1p-32f, 0x1.fffffep-1f);
    const volatile float product = u * 3.75f;  // volatile: no fused multiply-add
    ASSERT_EQ(number, product + -1.5f);
  }
}

TEST(Mt19937, NumbersRoundedToFloatStayBelowTheEnd) {
  // Words that would be rounded up to 2^32 are the 746th of the first stream and the 2391st of the
  // second.
  for (const uint32_t seed : {10694u, 28571u}) {
    Mt19937 rounded(seed), uniform(seed);
    std::mt19937 standard(seed);
    std::vector<float> numbers(5000), uniforms(numbers.size());
    rounded.fill_rounded(numbers.data(), static_cast<int64_t>(numbers.size()));
    uniform.fill_uniform(uniforms.data(), static_cast<int64_t>(numbers.size()), 0, 1);
    int greatest = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const uint32_t word = standard();
      greatest += static_cast<int>(word >= 0xffffff80u);
      ASSERT_EQ(numbers[i], word >= 0xffffff80u ? 0x1.fffffep31f : static_cast<float>(word))
          << "seed " << seed;
      ASSERT_EQ(uniforms[i], numbers[i] * 0x1p-32f) << "seed " << seed;
    }
    EXPECT_GT(greatest, 0) << "seed " << seed;
  }
}

// Whole states, which are made and given at once, and parts of them in turn.
TEST(Mt19937, NumbersOfAllKindsContinueTheStream) {
  Mt19937 engine(kSeed);
  std::mt19937 standard(kSeed);
  std::mt19937 lengths(kSeed + 2);
  for (int part = 0; part < 300; ++part) {
    const std::size_t n = part % 3 == 0
                              ? lengths() % 50
                              : engine.left() % Mt19937::kWords + Mt19937::kWords * (lengths() % 3);
    std::vector<float> numbers(n);
    std::vector<uint32_t> words(n);
    const auto count = static_cast<int64_t>(n);
    if (part % 4 == 0) engine.fill(words.data(), count);
    if (part % 4 == 1) engine.fill_rounded(numbers.data(), count);
    if (part % 4 > 1)
      engine.fill_uniform(numbers.data(), count, 0, static_cast<float>(part % 4 - 1));
    for (std::size_t i = 0; i < n; ++i) {
      const uint32_t word = standard();
      const float number = std::min(static_cast<float>(word), 0x1.fffffep31f);
      if (part % 4 == 0) {
        ASSERT_EQ(words[i], word) << "part " << part;
      } else {
        ASSERT_EQ(numbers[i],
                  part % 4 == 1 ? number : number * 0x1p-32f * static_cast<float>(part % 4 - 1))
            << "part " << part;
      }
    }
  }
}

TEST(Draws, WhatIsLeftOverGoesBackToTheStream) {
  Mt19937 engine(kSeed);
  std::mt19937 standard(kSeed);
  std::mt19937 lengths(kSeed + 1);
  for (int part = 0; part < 300; ++part) {
    Draws draws(engine);
    for (uint32_t i = lengths() % 150; i > 0; --i)
      ASSERT_EQ(draws.word(), standard()) << "part " << part;
  }
}

TEST(Draws, BoundedIntegersAreThoseOfTheScaledWords) {
  Mt19937 engine(kSeed);
  Draws draws(engine);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[draws.below(7)];
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);  // 5 sigma
}

TEST(Draws, ParametersThatAreNoneGiveNaNInsteadOfALoop) {
  Mt19937 engine(kSeed);
  Draws draws(engine);
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  for (float alpha : {-1.0f, -0.5f, nan, inf})
    EXPECT_TRUE(std::isnan(draws.gamma<float>(alpha, 1.0f)));
  for (float mean : {-1.0f, nan}) EXPECT_TRUE(std::isnan(draws.poisson(mean)));
  EXPECT_EQ(draws.poisson(inf), inf);
  EXPECT_EQ(draws.poisson(0.0f), 0.0f);
}

}  // namespace
}  // namespace mxnet
