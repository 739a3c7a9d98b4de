// SPDX-License-Identifier: Apache-2.0
// The reduction engine: that threads do not change sums, how exact they are, parameters, NaN.
#include "op/reducing/reduce_engine.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "reduce_run.h"

namespace mxnet {
namespace {

TEST(Reduce, OutputsWithoutElementsAreTheIdentity) {
  std::vector<double> none;
  EXPECT_EQ((reduced<double, double>(Reduction::sum, none, Shape{3, 0}, axis_set({1}))),
            std::vector<double>(3, 0.0));
  EXPECT_EQ((reduced<double, double>(Reduction::prod, none, Shape{0, 2}, axis_set({0}))),
            std::vector<double>(2, 1.0));
}

TEST(Reduce, ShortBlocksHaveParametersOfTheirOwn) {
  std::vector<double> x(50 * 3 * 4), about(50 * 4), expected(50 * 4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 13);
  for (std::size_t i = 0; i < about.size(); ++i) about[i] = static_cast<double>(i % 5);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t out = i / 12 * 4 + i % 4;
    expected[out] += (x[i] - about[out]) * (x[i] - about[out]);
  }
  EXPECT_EQ((reduced<double, double>(Reduction::sum_squares_about, x, Shape{50, 3, 4},
                                     axis_set({1}), about.data())),
            expected);
}

TEST(Reduce, TheNumberOfThreadsDoesNotChangeASum) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> x(3'000'000);
  for (float& value : x) value = normal(random);
  const int threads = omp_get_max_threads();
  for (const Shape& shape :
       {Shape{3'000'000, 1}, Shape{1500, 2000}, Shape{750'000, 4}, Shape{25, 3, 40'000},
        Shape{500, 30, 200}, Shape{250, 120, 100}, Shape{30, 100'000}}) {
    for (const AxisSet set : {axis_set({0}), axis_set({1}), axis_set({0, 1}), axis_set({0, 2})}) {
      if (set >> shape.ndim() != 0) continue;
      omp_set_num_threads(1);
      const auto alone = reduced<float, float>(Reduction::sum, x, shape, set);
      const auto exactly = reduced<float, double>(Reduction::sum, x, shape, set);
      for (const int many : {2, 3, 4}) {
        omp_set_num_threads(many);
        EXPECT_EQ(alone, (reduced<float, float>(Reduction::sum, x, shape, set)))
            << to_string(shape) << " axes " << set;
        EXPECT_EQ(exactly, (reduced<float, double>(Reduction::sum, x, shape, set)))
            << to_string(shape) << " axes " << set;
      }
    }
  }
  omp_set_num_threads(threads);
}

// Runs of an output that lie apart, in an array so large that all are reduced in order.
TEST(Reduce, RunsOfLargeArraysMissNoElement) {
  for (const int64_t length : {64, 65, 100, 127}) {
    const Shape shape{2'000'000 / (length * 40), 40, length};
    std::vector<float> x(static_cast<std::size_t>(shape.size())), most(40, -1.0f);
    std::vector<double> sums(40, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i * 7919 % 1'000'003 % 4099);
      const std::size_t output = i / static_cast<std::size_t>(length) % 40;
      sums[output] += static_cast<double>(x[i]);
      most[output] = std::max(most[output], x[i]);
    }
    EXPECT_EQ((reduced<float, double>(Reduction::sum, x, shape, axis_set({0, 2}))), sums);
    EXPECT_EQ((reduced<float, float>(Reduction::max, x, shape, axis_set({0, 2}))), most);
  }
}

// 0.1 in float32, a million times: a straight sum is off by one percent.
TEST(Reduce, TheErrorOfANarrowSumDoesNotGrowWithItsLength) {
  std::vector<float> x(1 << 20, 0.1f);
  const double exact = static_cast<double>(0.1f) * (1 << 20);
  const Shape row{1 << 20}, column{1 << 19, 2};
  EXPECT_NEAR((reduced<float, float>(Reduction::sum, x, row, axis_set({0})))[0], exact,
              exact * 1e-6);
  EXPECT_NEAR((reduced<float, float>(Reduction::sum, x, column, axis_set({0})))[0], exact / 2,
              exact * 1e-5);
}

// The same of doubles, in runs that one call of a loop takes and longer ones: a straight sum of the
// longest is off by 1e-11, one that begins again every few thousand by the last place.
TEST(Reduce, TheErrorOfASumOfDoublesDoesNotGrowWithItsLength) {
  for (const int bits : {12, 14, 17, 20}) {
    std::vector<double> x(std::size_t{1} << bits, 0.1);
    const double exact = std::ldexp(0.1, bits);
    EXPECT_NEAR(
        (reduced<double, double>(Reduction::sum, x, Shape{int64_t{1} << bits}, axis_set({0})))[0],
        exact, exact * 2e-15)
        << bits;
  }
}

// Floats whose sum and whose squares a double holds exactly, at every length around those of
// vectors: the smallest of them counts beside the largest.
TEST(Reduce, FloatsThatCancelAreAddedExactly) {
  for (int64_t length = 1; length <= 300; ++length) {
    std::vector<float> x(static_cast<std::size_t>(2 * length), 0.0f);
    const auto at = [&](int64_t i) -> float& { return x[static_cast<std::size_t>(i % length)]; };
    at(0) += 16777216.0f;
    at(length / 2) += 0.25f;
    at(length - 1) -= 16777216.0f;
    for (int64_t i = 0; i < length; ++i) x[static_cast<std::size_t>(length + i)] = -at(i);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < length; ++i) {
      sum += static_cast<double>(at(i));
      squares += static_cast<double>(at(i)) * static_cast<double>(at(i));
    }
    EXPECT_EQ((reduced<float, double>(Reduction::sum, x, Shape{2, length}, axis_set({1}))),
              (std::vector<double>{sum, -sum}))
        << length;
    EXPECT_EQ((reduced<float, double>(Reduction::sum_squares, x, Shape{2, length}, axis_set({1}))),
              (std::vector<double>{squares, squares}))
        << length;
    EXPECT_EQ((reduced<float, double>(Reduction::sum, x, Shape{2, length}, axis_set({0}))),
              std::vector<double>(static_cast<std::size_t>(length), 0.0))
        << length;
  }
}

TEST(Reduce, ManyRowsHaveParametersOfTheirOwn) {
  constexpr std::size_t kRows = 3000, kLength = 33;
  std::vector<double> x(kRows * kLength), about(kRows), expected(kRows, 0.0);
  for (std::size_t i = 0; i < kRows; ++i) about[i] = static_cast<double>(i % 7);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i % 19);
    const double apart = x[i] - about[i / kLength];
    expected[i / kLength] += apart * apart;
  }
  EXPECT_EQ((reduced<double, double>(Reduction::sum_squares_about, x, Shape{kRows, kLength},
                                     axis_set({1}), about.data())),
            expected);
}

TEST(Reduce, EachOutputHasItsOwnParameter) {
  std::vector<double> x{1, 2, 3, 11, 12, 13};
  const std::vector<double> about{2, 12};
  EXPECT_EQ((reduced<double, double>(Reduction::sum_squares_about, x, Shape{2, 3}, axis_set({1}),
                                     about.data())),
            (std::vector<double>{2, 2}));
}

TEST(Reduce, IntegersMeetInInt64) {
  std::vector<int8_t> x(100'000, 127);
  EXPECT_EQ((reduced<int8_t, int64_t>(Reduction::sum, x, Shape{100'000}, axis_set({0})))[0],
            12'700'000);
}

// Infinities and negative zeros alone, and the greatest number at an end.
TEST(Reduce, ExtremesOfRowsAreAmongTheirNumbers) {
  for (const int64_t length : {1, 16, 64, 200, 5000}) {
    std::vector<float> x(static_cast<std::size_t>(length), -INFINITY);
    EXPECT_EQ((reduced<float, float>(Reduction::max, x, Shape{length}, axis_set({0})))[0],
              -INFINITY);
    EXPECT_EQ((reduced<float, float>(Reduction::min, x, Shape{length}, axis_set({0})))[0],
              -INFINITY);
    std::fill(x.begin(), x.end(), -0.0f);
    EXPECT_TRUE(
        std::signbit((reduced<float, float>(Reduction::max, x, Shape{length}, axis_set({0})))[0]));
    for (float& value : x) value = static_cast<float>(&value - x.data());
    EXPECT_EQ((reduced<float, float>(Reduction::max, x, Shape{length}, axis_set({0})))[0],
              x.back());
    EXPECT_EQ((reduced<float, float>(Reduction::min, x, Shape{length}, axis_set({0})))[0], 0.0f);
  }
}

TEST(Reduce, ANanIsTheLargestAndTheSmallest) {
  std::vector<float> x(100, 1.0f);
  for (const std::size_t length : {1, 15, 16, 17, 100, 131, 300}) {
    for (std::size_t at = 0; at < length; ++at) {
      std::vector<float> row(length, at % 3 == 0 ? -INFINITY : 1.0f);
      row[at] = NAN;
      const Shape shape{static_cast<int64_t>(length)};
      for (const Reduction r : {Reduction::max, Reduction::min})
        EXPECT_TRUE(std::isnan((reduced<float, float>(r, row, shape, axis_set({0})))[0]))
            << at << " of " << length;
    }
  }
  x[77] = NAN;
  EXPECT_EQ((reduced<float, float>(Reduction::nansum, x, Shape{100}, axis_set({0})))[0], 99.0f);
}

}  // namespace
}  // namespace mxnet
