// SPDX-License-Identifier: Apache-2.0
// The loops of normalisations and activations: lengths around the widths of vectors, and accuracy
// over the whole range of arguments.
#include "op/norm/norm_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "base/simd.h"
#include "op/norm/activation_loops.h"
#include "op/norm/row_sums.h"

namespace mxnet {
namespace {

constexpr unsigned kSeed = 20250117;

template <class C>
class NormLoopsTest : public testing::Test {
 protected:
  std::vector<C> numbers(std::size_t n) {
    std::vector<C> values(n);
    for (C& value : values) value = std::normal_distribution<C>()(random_);
    return values;
  }
  static constexpr double kLimit = 1000 * std::numeric_limits<C>::epsilon();
  std::mt19937 random_{kSeed};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(NormLoopsTest, Types);

TYPED_TEST(NormLoopsTest, SumsOfAnyLength) {
  using C = TypeParam;
  const NormLoops<C>& loops = norm_loops<C>();
  for (std::size_t n = 0; n < 150; ++n) {
    const std::vector<C> x = this->numbers(n), y = this->numbers(n);
    double sum = 0, dot = 0, negative = 0, deviation = 0, square = 0;
    C max = -std::numeric_limits<C>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      const double a = x[i], b = y[i];
      sum += a;
      dot += a * b;
      negative += b < 0 ? a * b : 0;
      deviation += a - 0.5;
      square += (a - 0.5) * (a - 0.5);
      max = std::max(max, x[i]);
    }
    const auto length = static_cast<int64_t>(n);
    const C about = C(0.5);
    C deviations[2];
    loops.deviations(x.data(), length, 1, &about, deviations);
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", length " << n);
    EXPECT_NEAR(loops.sum(x.data(), length), sum, this->kLimit);
    EXPECT_NEAR(loops.dot(x.data(), y.data(), length), dot, this->kLimit);
    EXPECT_NEAR(loops.negative_dot(x.data(), y.data(), length), negative, this->kLimit);
    EXPECT_NEAR(deviations[0], deviation, this->kLimit);
    EXPECT_NEAR(deviations[1], square, this->kLimit * 4);
    EXPECT_EQ(loops.max(x.data(), length), max);
  }
}

// To the digits of one alone.
TYPED_TEST(NormLoopsTest, MomentsOfRowsTogether) {
  using C = TypeParam;
  const NormLoops<C>& loops = norm_loops<C>();
  for (std::size_t n = 1; n < 150; ++n) {
    const std::vector<C> x = this->numbers(n * kRowsTogether);
    for (const int64_t rows : {int64_t{2}, int64_t{5}, kRowsTogether}) {
      std::array<Moments, kRowsTogether> together;
      add_blocks(loops, x.data(), static_cast<int64_t>(n), rows, together.data());
      for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
        const Moments one = moments_of(loops, x.data() + r * n, static_cast<int64_t>(n));
        SCOPED_TRACE(testing::Message() << "row " << r << " of " << rows << ", length " << n);
        EXPECT_EQ(together[r].mean, one.mean);
        EXPECT_EQ(together[r].square, one.square);
      }
    }
  }
}

TYPED_TEST(NormLoopsTest, ExponentialsDownToNothing) {
  using C = TypeParam;
  std::vector<C> x, y;
  for (double v = 0; v > -800; v -= 0.37) x.push_back(static_cast<C>(v));
  x.push_back(-std::numeric_limits<C>::infinity());
  y.resize(x.size());
  const auto n = static_cast<int64_t>(x.size());
  const C sum = norm_loops<C>().exp_sum(x.data(), y.data(), n, C(0), C(1));
  double expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(x[i]));
    expected += exact;
    const double least = std::numeric_limits<C>::min();
    EXPECT_NEAR(y[i], exact, 4 * std::numeric_limits<C>::epsilon() * exact + least) << x[i];
  }
  EXPECT_NEAR(sum, expected, this->kLimit);
  EXPECT_EQ(y.back(), C(0));
}

// What is left over behind whole vectors is computed with some elements once more: also where the
// result takes the argument's place, and with nothing written beyond the end.
TYPED_TEST(NormLoopsTest, ExponentialsOfAnyLengthInPlaceOrBeside) {
  using C = TypeParam;
  const NormLoops<C>& loops = norm_loops<C>();
  for (std::size_t n = 0; n < 150; ++n) {
    std::vector<C> x = this->numbers(n + 1), y(n + 1, C(-7));
    for (C& value : x) value = -std::abs(value);
    x[n] = C(-7);
    const auto length = static_cast<int64_t>(n);
    const C sum = loops.exp_sum(x.data(), y.data(), length, C(0.25), C(2));
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", length " << n);
    EXPECT_EQ(loops.exp_sum(x.data(), nullptr, length, C(0.25), C(2)), sum);
    double expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(y[i], std::exp(2 * (static_cast<double>(x[i]) - 0.25)), this->kLimit);
      expected += y[i];
    }
    EXPECT_NEAR(sum, expected, this->kLimit);
    EXPECT_EQ(loops.exp_sum(x.data(), x.data(), length, C(0.25), C(2)), sum);
    EXPECT_EQ(x, y);
  }
}

// Short rows are made some at once; each has the digits of one that is alone, in place and beside.
TYPED_TEST(NormLoopsTest, SoftmaxOfShortRowsIsThatOfEach) {
  using C = TypeParam;
  const NormLoops<C>& loops = norm_loops<C>();
  constexpr int64_t kRows = 19;
  const auto least = static_cast<std::size_t>(NormLoops<C>::kLeastRow);
  for (std::size_t n = least; n < 100; ++n) {
    const auto length = static_cast<int64_t>(n);
    for (const bool log : {false, true}) {
      for (const C scale : {C(0.5), C(-2)}) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", " << n << ", " << log << scale);
        std::vector<C> x = this->numbers(n * kRows);
        x[3] = std::numeric_limits<C>::quiet_NaN();
        std::vector<C> y(x.size() + 1, C(-7));
        loops.softmax_rows(x.data(), y.data(), kRows, length, scale, log);
        EXPECT_EQ(y.back(), C(-7));
        for (std::size_t i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
        for (std::size_t at = n; at < x.size(); at += n) {
          double largest = -1e300, sum = 0;
          for (std::size_t i = 0; i < n; ++i)
            largest = std::max(largest, static_cast<double>(scale) * x[at + i]);
          for (std::size_t i = 0; i < n; ++i)
            sum += std::exp(static_cast<double>(scale) * x[at + i] - largest);
          for (std::size_t i = 0; i < n; ++i) {
            const double power = static_cast<double>(scale) * x[at + i] - largest;
            const double want = log ? power - std::log(sum) : std::exp(power) / sum;
            EXPECT_NEAR(y[at + i], want,
                        16 * std::numeric_limits<C>::epsilon() * (log ? 1 + std::abs(want) : want));
          }
          std::vector<C> alone(n);
          loops.softmax_rows(x.data() + at, alone.data(), 1, length, scale, log);
          EXPECT_TRUE(std::equal(alone.begin(), alone.end(), y.data() + at));
        }
        loops.softmax_rows(x.data(), x.data(), kRows, length, scale, log);
        EXPECT_TRUE(std::equal(x.begin() + static_cast<std::ptrdiff_t>(n), x.end(), y.data() + n));
      }
    }
  }
}

TYPED_TEST(NormLoopsTest, LogarithmsOfSums) {
  using C = TypeParam;
  std::vector<C> x;
  for (double v = 1; v < 1e6; v *= 1.0003) x.push_back(static_cast<C>(v));
  const std::size_t n = x.size();
  x.push_back(std::numeric_limits<C>::quiet_NaN());
  x.resize((x.size() + 15) / 16 * 16, C(1));
  std::vector<C> y = x;
  norm_loops<C>().negative_logs(y.data(), static_cast<int64_t>(n) + 1);
  EXPECT_EQ(y[0], C(0));
  EXPECT_TRUE(std::signbit(y[0]));
  EXPECT_TRUE(std::isnan(y[n]));
  for (std::size_t i = 1; i < n; ++i) {
    const double want = std::log(static_cast<double>(x[i]));
    // Of floats what rounding takes; of doubles two units more.
    const double units = std::is_same_v<C, float> ? 0.51 : 2.5;
    EXPECT_NEAR(-y[i], want, units * std::numeric_limits<C>::epsilon() * want) << x[i];
  }
}

// Halves of any length, in place and beside, are floats that are rounded once.
TEST(NormLoopsOfHalves, AreThoseOfFloatsRoundedOnce) {
  const NormLoops<float>& loops = norm_loops<float>();
  if (loops.affine_halves == nullptr) {
    EXPECT_LT(simd_level(), 1);
    return;
  }
  std::mt19937 random(kSeed);
  for (std::size_t n = 0; n < 150; ++n) {
    std::vector<float16> x(n + 1), y(n + 1);
    std::vector<float> wide(n);
    for (float16& value : x) value = std::normal_distribution<float>()(random);
    y.back() = x.back();
    std::copy_n(x.begin(), n, wide.begin());
    const auto length = static_cast<int64_t>(n);
    loops.affine(wide.data(), wide.data(), length, 0.5f, -3.0f, 0.1f);
    loops.affine_halves(x.data(), y.data(), length, 0.5f, -3.0f, 0.1f);
    loops.affine_halves(x.data(), x.data(), length, 0.5f, -3.0f, 0.1f);
    for (std::size_t i = 0; i <= n; ++i) {
      if (i < n) EXPECT_EQ(y[i].bits, float16(wide[i]).bits) << i << " of " << n;
      EXPECT_EQ(x[i].bits, y[i].bits) << i << " of " << n;
    }
  }
}

// The last elements are computed with some before them: where a result takes an argument's place,
// as beside it.
TYPED_TEST(NormLoopsTest, ElementsOfAnyLengthInPlaceOrBeside) {
  using C = TypeParam;
  const NormLoops<C>& loops = norm_loops<C>();
  const auto near = [](const std::vector<C>& values, const auto& want) {
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
      EXPECT_NEAR(values[i], want(i), NormLoopsTest<C>::kLimit) << i;
    EXPECT_EQ(values.back(), C(-7));
  };
  for (std::size_t n = 0; n < 70; ++n) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", length " << n);
    std::vector<C> x = this->numbers(n + 1), g = this->numbers(n + 1), e = this->numbers(n + 1);
    x[n] = g[n] = e[n] = C(-7);
    const auto length = static_cast<int64_t>(n);
    const C shift = C(0.5), scale = C(-3), offset = C(0.25);
    std::vector<C> y = x;
    loops.scale(y.data(), length, scale);
    near(y, [&](std::size_t i) { return x[i] * -3.0; });
    y = x;
    loops.affine(y.data(), y.data(), length, shift, scale, offset);
    near(y, [&](std::size_t i) { return (x[i] - 0.5) * -3.0 + 0.25; });
    y = x;
    loops.affine_each(y.data(), y.data(), length, 1, &shift, &scale, g.data(), e.data());
    near(y, [&](std::size_t i) { return (x[i] - 0.5) * -3.0 * g[i] + e[i]; });
    y = g;
    loops.softmax_grad(y.data(), x.data(), y.data(), length, shift, scale);
    near(y, [&](std::size_t i) { return (g[i] - 0.5) * x[i] * -3.0; });
    y = x;
    loops.log_softmax_grad(g.data(), y.data(), y.data(), length, shift, scale);
    near(y, [&](std::size_t i) { return (g[i] - std::exp(double{x[i]}) * 0.5) * -3.0; });
    y = x;
    loops.affine_grad(g.data(), y.data(), y.data(), length, shift, scale, offset, C(2));
    near(y, [&](std::size_t i) { return g[i] * -3.0 + ((x[i] - 0.5) * 0.25 + 2); });
    y = g;
    loops.affine_grad_each(y.data(), e.data(), x.data(), y.data(), length, shift, scale, offset,
                           C(2));
    near(y, [&](std::size_t i) { return g[i] * e[i] * -3.0 + ((x[i] - 0.5) * 0.25 + 2); });
    C sums[2], weighted[2];
    loops.grad_sums(g.data(), x.data(), length, shift, sums);
    loops.grad_sums_each(g.data(), e.data(), x.data(), length, shift, weighted);
    double want[4] = {};
    for (std::size_t i = 0; i < n; ++i) {
      want[0] += g[i];
      want[1] += g[i] * (x[i] - 0.5);
      want[2] += g[i] * double{e[i]};
      want[3] += g[i] * double{e[i]} * (x[i] - 0.5);
    }
    EXPECT_NEAR(sums[0], want[0], this->kLimit);
    EXPECT_NEAR(sums[1], want[1], this->kLimit);
    EXPECT_NEAR(weighted[0], want[2], this->kLimit);
    EXPECT_NEAR(weighted[1], want[3], this->kLimit);
  }
}

TYPED_TEST(NormLoopsTest, TheLargestElementIsNoNanUnlessAllAre) {
  using C = TypeParam;
  constexpr C kNan = std::numeric_limits<C>::quiet_NaN();
  for (std::size_t n = 1; n < 100; ++n) {
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<C> x(n, kNan);
      x[at] = C(-3);
      EXPECT_EQ(norm_loops<C>().max(x.data(), static_cast<int64_t>(n)), C(-3)) << n << ", " << at;
    }
  }
}

TYPED_TEST(NormLoopsTest, MomentsKeepTheVarianceBesideALargeMean) {
  using C = TypeParam;
  std::vector<C> x = this->numbers(10000);
  for (C& value : x) value += C(4096);
  double mean = 0, square = 0;
  for (C value : x) mean += value / 10000.0;
  for (C value : x) square += (value - mean) * (value - mean);
  const Moments moments = moments_of(norm_loops<C>(), x.data(), 10000);
  EXPECT_NEAR(moments.mean, mean, 1e-6);
  EXPECT_NEAR(moments.variance(), square / 10000, 1e-5);
}

TEST(Moments, OfOneBlockNeedNotHoldTheSquareOfTheirMean) {
  const std::vector<double> x(64, std::ldexp(1.0, 700));
  const Moments moments = moments_of(norm_loops<double>(), x.data(), 64);
  EXPECT_EQ(moments.mean, x[0]);
  EXPECT_EQ(moments.variance(), 0.0);
}

// Everything is computed in float; the bounds are what rounding 1 + erf(x) would lose too.
TEST(ActivationLoops, GeluAndItsSlopeOverTheWholeRange) {
  std::vector<float> x;
  for (double v = -20; v < 20; v += 1e-3) x.push_back(static_cast<float>(v));
  for (float end : {-1e6f, 1e6f}) x.push_back(end);
  const std::vector<float> ones(x.size(), 1.0f);
  std::vector<float> y(x.size()), slope(x.size());
  const auto loop = activation_loop<float>(ActivationRow::gelu);
  const auto n = static_cast<int64_t>(x.size());
  loop.value(x.data(), y.data(), n, 0);
  loop.slope(ones.data(), x.data(), slope.data(), n, 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], below = 0.5 * std::erfc(-v * std::sqrt(0.5));
    EXPECT_NEAR(y[i], v * below, 6e-7 + 2e-7 * std::abs(v * below)) << v;
    EXPECT_NEAR(slope[i], below + v * kNormal * std::exp(-0.5 * v * v), 3e-7) << v;
  }
}

template <class C>
void expect_slopes_of_powers(ActivationRow row, double s, double above, double below) {
  std::vector<C> x;
  for (double v = -800; v < 3; v += 0.37) x.push_back(static_cast<C>(v));
  for (double v = -20; v < 1; v += 1e-2) x.push_back(static_cast<C>(v));
  for (std::size_t n = 0; n <= x.size(); n += n < 300 ? 1 : 977) {
    const std::vector<C> dy(n, C(-2));
    std::vector<C> dx(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));  // in x's place
    activation_loop<C>(row).slope(dy.data(), dx.data(), dx.data(), static_cast<int64_t>(n),
                                  static_cast<C>(s));
    for (std::size_t i = 0; i < n; ++i) {
      const double v = x[i], want = v > 0 ? above : below * std::exp(v);
      EXPECT_NEAR(
          dx[i], -2 * want,
          4 * std::numeric_limits<C>::epsilon() * want + 4 * std::numeric_limits<C>::denorm_min())
          << v << " of " << n;
    }
  }
}

TEST(ActivationLoops, SlopesThatArePowersOfEDownToNothing) {
  const double selu = kSeluScale * kSeluAlpha;
  expect_slopes_of_powers<float>(ActivationRow::elu, 0.25, 1, 0.25);
  expect_slopes_of_powers<double>(ActivationRow::elu, 0.25, 1, 0.25);
  expect_slopes_of_powers<float>(ActivationRow::selu, 0, kSeluScale, selu);
  expect_slopes_of_powers<double>(ActivationRow::selu, 0, kSeluScale, selu);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float x[] = {-kInf, kInf, 0.0f, -0.0f, std::numeric_limits<float>::quiet_NaN()};
  const float dy[] = {1, 1, 1, 1, 1};
  float dx[5];
  activation_loop<float>(ActivationRow::elu).slope(dy, x, dx, 5, 0.5f);
  EXPECT_EQ(dx[0], 0.0f);
  EXPECT_EQ(dx[1], 1.0f);
  EXPECT_EQ(dx[2], 0.5f);
  EXPECT_EQ(dx[3], 0.5f);
  EXPECT_TRUE(std::isnan(dx[4]));
}

}  // namespace
}  // namespace mxnet
