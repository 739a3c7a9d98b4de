// SPDX-License-Identifier: Apache-2.0
// Products in fewer multiplications are those of the plain triple loop: to the last bit for numbers
// whose sums are exact, and with a small error for others.
#include "op/products/strassen_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <random>
#include <vector>

namespace mxnet {
namespace {

namespace fast = strassen_product;

constexpr unsigned kSeed = 20261125;

struct Floats {
  explicit Floats(int64_t count)
      : data(static_cast<float*>(::operator new (static_cast<std::size_t>(count) * sizeof(float),
                                                 std::align_val_t{64}))) {
    std::fill_n(data, count, NAN);  // what is read without being written shows
  }
  ~Floats() { ::operator delete (data, std::align_val_t{64}); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  float* data;
};

// Rows, a matrix and their product.
class StrassenProduct : public testing::Test {
 protected:
  void SetUp() override {
    if (!fast::divides(512, 512)) GTEST_SKIP() << "needs AVX-512";
  }
  template <class Number>
  void draw(int64_t m, int64_t n, int64_t k, const Number& number) {
    m_ = m;
    n_ = n;
    k_ = k;
    a_.resize(static_cast<std::size_t>(m * k));
    w_.resize(static_cast<std::size_t>(n * k));
    std::generate(a_.begin(), a_.end(), number);
    std::generate(w_.begin(), w_.end(), number);
  }
  // The largest error, of the largest magnitude of some results, which are added to `before`.
  double error(float before) {
    Floats sums(fast::sums_size(n_, k_)), scratch(fast::scratch_size(k_));
    fast::sum_matrix(w_.data(), n_, k_, sums.data);
    const bool add = before != 0;
    std::vector<float> c(static_cast<std::size_t>(m_ * n_), add ? before : NAN);
    int64_t reached = 0;
    const auto finished = [&](int64_t first, int64_t last) {
      EXPECT_EQ(first, reached);
      reached = last;
    };
    fast::multiply(m_, n_, k_, a_.data(), sums.data, c.data(), add, scratch.data,
                   {&finished, [](const void* body, int64_t first, int64_t last) {
                      (*static_cast<const decltype(finished)*>(body))(first, last);
                    }});
    EXPECT_EQ(reached, n_);
    double largest = 0, most = 0;
    for (int64_t i = 0; i < m_; ++i) {
      for (int64_t j = i % 3; j < n_; j += 3) {
        double want = before;
        for (int64_t q = 0; q < k_; ++q)
          want += double{a_[static_cast<std::size_t>(i * k_ + q)]} *
                  w_[static_cast<std::size_t>(j * k_ + q)];
        const double off = std::abs(c[static_cast<std::size_t>(i * n_ + j)] - want);
        most = std::isnan(off) ? INFINITY : std::max(most, off);
        largest = std::max(largest, std::abs(want));
      }
    }
    return most / largest;
  }
  bool may_multiply() const {
    return fast::may_multiply(m_, n_, k_, a_.data(), w_.data(),
                              magnitudes_of_rows(w_.data(), n_, k_));
  }

  std::mt19937 random_{kSeed};
  std::normal_distribution<float> normal_;
  int64_t m_ = 0, n_ = 0, k_ = 0;
  std::vector<float> a_, w_;
};

TEST_F(StrassenProduct, IsTheSumOfProducts) {
  SCOPED_TRACE(kSeed);
  std::uniform_int_distribution<int> eighths(-8, 8);
  // Blocks of the inner dimension: one, two alike, three of which the last is smaller.
  for (const auto& [m, n, k] :
       {std::tuple{32, 512, 512}, {96, 640, 1088}, {256, 512, 576}, {64, 512, 2240}}) {
    draw(m, n, k, [&] { return static_cast<float>(eighths(random_)) / 8; });
    EXPECT_EQ(error(0), 0) << m << " x " << n << " x " << k;
    EXPECT_EQ(error(2), 0) << m << " x " << n << " x " << k;
  }
}

TEST_F(StrassenProduct, ErrorsAreAFewTimesThoseOfPlainProducts) {
  draw(128, 768, 768, [&] { return normal_(random_); });
  EXPECT_TRUE(may_multiply());
  EXPECT_LT(error(0), 5e-6);
  draw(64, 512, 3072, [&] { return std::abs(normal_(random_)); });
  EXPECT_TRUE(may_multiply());
  EXPECT_LT(error(0), 5e-6);
}

TEST_F(StrassenProduct, OddSizesAreLeftToOthers) {
  EXPECT_FALSE(fast::divides(512, 500));
  EXPECT_FALSE(fast::divides(500, 512));
  EXPECT_FALSE(fast::divides(256, 512));
  EXPECT_FALSE(fast::divides(512, 256));
}

TEST_F(StrassenProduct, NumbersThatWouldHideOthersAreLeftToOthers) {
  const auto number = [&] { return normal_(random_); };
  draw(64, 512, 512, number);
  EXPECT_TRUE(may_multiply());
  // A feature of large numbers whose weights are small.
  for (int64_t i = 0; i < m_; ++i) a_[static_cast<std::size_t>(i * k_ + 7)] *= 1e6F;
  for (int64_t j = 0; j < n_; ++j) w_[static_cast<std::size_t>(j * k_ + 7)] *= 1e-6F;
  EXPECT_FALSE(may_multiply());
  // One whose weights are not small for some of the units.
  for (int64_t j = 0; j < n_; j += 4) w_[static_cast<std::size_t>(j * k_ + 7)] *= 1e6F;
  EXPECT_FALSE(may_multiply());
  // What is large everywhere, or small, is as good as what is not.
  draw(64, 512, 512, [&] { return 1e6F * normal_(random_); });
  EXPECT_TRUE(may_multiply());
  draw(64, 512, 512, [&] { return 1e-6F * normal_(random_); });
  EXPECT_TRUE(may_multiply());
}

TEST_F(StrassenProduct, WhatIsNotFiniteIsLeftToOthers) {
  for (const float value : {NAN, INFINITY, 1e38F}) {
    draw(64, 512, 512, [&] { return normal_(random_); });
    a_[1234] = value;
    EXPECT_FALSE(may_multiply()) << value;
  }
  for (const float value : {NAN, INFINITY}) {
    draw(64, 512, 512, [&] { return normal_(random_); });
    w_[1234] = value;
    EXPECT_FALSE(may_multiply()) << value;
  }
}

TEST_F(StrassenProduct, RowsOfAnotherMagnitudeAreLeftToOthers) {
  std::uniform_real_distribution<float> even(-1, 1);
  const auto number = [&] { return even(random_); };
  const auto scale = [](std::vector<float>& rows, int64_t length, int64_t row, float factor) {
    for (int64_t i = 0; i < length; ++i) rows[static_cast<std::size_t>(row * length + i)] *= factor;
  };
  for (const float factor : {1e4F, 1e-4F, 0.0F}) {
    // Every 16th of the rows: as the first ones of sequences, all that the products look at.
    draw(256, 512, 512, number);
    EXPECT_TRUE(may_multiply());
    for (int64_t row = 0; row < m_; row += 16) scale(a_, k_, row, factor);
    EXPECT_FALSE(may_multiply()) << factor;
    draw(256, 512, 512, number);
    for (int64_t row = 0; row < n_; row += 4) scale(w_, k_, row, factor);
    EXPECT_FALSE(may_multiply()) << factor;
  }
}

TEST_F(StrassenProduct, NumbersWhoseSumsAreInfiniteAreLeftToOthers) {
  std::uniform_real_distribution<float> even(-1, 1);
  const auto number = [&] { return even(random_); };
  for (const float factor : {1e38F, 1e-38F}) {
    draw(64, 512, 512, number);
    for (float& v : a_) v *= factor;
    for (float& v : w_) v *= 1 / factor;
    EXPECT_FALSE(may_multiply()) << factor;
  }
}

}  // namespace
}  // namespace mxnet
