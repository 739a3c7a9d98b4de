// SPDX-License-Identifier: Apache-2.0
// The vectorised functions are within a few ulp of long double, over random arguments, all bit
// patterns and edges, as the loops of this CPU's widest instruction set compute them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/simd.h"
#include "op/math/digamma.h"
#include "op/rows/binary_loops.h"
#include "op/rows/unary_loops.h"
#include "op/ulps.h"

namespace mxnet {
namespace {

constexpr int kCount = 200000;
constexpr uint64_t kSeed = 20240611;

struct Case {
  UnaryRow row;
  const char* name;
  long double (*exact)(long double);
  double (*in_double)(double);
  double low, high;  // where most arguments of programs are
  double ulps;
};

// Names of tests.
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// The bounds hold for every float, of which EveryFloat below takes the largest error, and for
// samples of double.
const Case kCases[] = {
    {UnaryRow::exp, "exp", std::exp, std::exp, -20, 20, 2},
    {UnaryRow::expm1, "expm1", std::expm1, std::expm1, -2, 2, 2},
    {UnaryRow::log, "log", std::log, std::log, 0, 10, 2},
    {UnaryRow::log1p, "log1p", std::log1p, std::log1p, -0.9, 2, 2},
    {UnaryRow::tanh, "tanh", std::tanh, std::tanh, -4, 4, 2},
    {UnaryRow::erf, "erf", std::erf, std::erf, -4, 4, 2},
    // A root and a sum, both rounded, or a quotient and a sum: so arcsin and arctan, too.
    {UnaryRow::arccos, "arccos", std::acos, std::acos, -1, 1, 1.5},
    {UnaryRow::arccosh, "arccosh", std::acosh, std::acosh, 1, 10, 2},
    {UnaryRow::arcsin, "arcsin", std::asin, std::asin, -1, 1, 1.5},
    {UnaryRow::arcsinh, "arcsinh", std::asinh, std::asinh, -4, 4, 2},
    {UnaryRow::arctan, "arctan", std::atan, std::atan, -4, 4, 1.5},
    {UnaryRow::arctanh, "arctanh", std::atanh, std::atanh, -1, 1, 2},
    {UnaryRow::cbrt, "cbrt", std::cbrt, std::cbrt, -10, 10, 1},
    {UnaryRow::cosh, "cosh", std::cosh, std::cosh, -4, 4, 2},
    {UnaryRow::sinh, "sinh", std::sinh, std::sinh, -4, 4, 2},
    // The logarithm times a rounded constant in two parts, and the sum with the exponent.
    {UnaryRow::log2, "log2", std::log2, std::log2, 0, 10, 1.6},
    {UnaryRow::log10, "log10", std::log10, std::log10, 0, 10, 2},
    // As the processor's own instruction.
    {UnaryRow::sqrt, "sqrt", std::sqrt, std::sqrt, 0, 10, 0.5},
    // Near multiples of pi/2 that are 10^5 times as large.
    {UnaryRow::sin, "sin", std::sin, std::sin, -100, 100, 1.1},
    {UnaryRow::cos, "cos", std::cos, std::cos, -100, 100, 1.1},
    // Those of sine and cosine, and the rounding of their quotient.
    {UnaryRow::tan, "tan", std::tan, std::tan, -100, 100, 2.6},
    // The error of exp, and the roundings of a sum and a quotient.
    {UnaryRow::sigmoid, "sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); },
     [](double x) { return 1 / (1 + std::exp(-x)); }, -30, 10, 2.8},
    // Of float in double; `gamma` of double is the C library's, `gammaln` that of two logarithms.
    {UnaryRow::gamma, "gamma", std::tgamma, std::tgamma, -20, 20, 8},
    {UnaryRow::gammaln, "gammaln", std::lgamma, std::lgamma, -20, 20, 8},
};

template <class T>
std::vector<T> arguments(const Case& c) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using Limits = std::numeric_limits<T>;
  std::vector<T> x{T(0),
                   -T(0),
                   T(1),
                   T(-1),
                   Limits::infinity(),
                   -Limits::infinity(),
                   Limits::quiet_NaN(),
                   Limits::max(),
                   Limits::lowest(),
                   Limits::min(),
                   Limits::denorm_min(),
                   -Limits::denorm_min(),
                   Limits::min() / 3,
                   Limits::epsilon(),
                   T(88.73),
                   T(-87.5),
                   T(-103.9),
                   T(709.7),
                   T(-745.1)};
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> range(c.low, c.high);
  // One kind after the other: loops take another way where a block has angles of many turns.
  for (int i = 0; i < kCount; ++i) x.push_back(static_cast<T>(range(random)));
  for (int i = 0; i < kCount; ++i) x.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  return x;
}

template <class T>
void expect_close(const Case& c) {
  const std::vector<T> x = arguments<T>(c);
  std::vector<T> y(x.size());
  unary_loop<T>(c.row).value(x.data(), y.data(), static_cast<int64_t>(x.size()));
  double worst = 0.0;
  T at{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = ulps_off(y[i], c.exact(static_cast<long double>(x[i])));
    if (!(off <= worst)) worst = off, at = x[i];
  }
  EXPECT_LE(worst, c.ulps) << c.name << "(" << at << "), seed " << kSeed;
}

// Down to the least subnormal numbers, rounded once.
template <class T>
void expect_small_sigmoids(double low, double high) {
  std::vector<T> x, y;
  for (int i = 0; i <= kCount; ++i) x.push_back(static_cast<T>(low + (high - low) * i / kCount));
  y.resize(x.size());
  unary_loop<T>(UnaryRow::sigmoid).value(x.data(), y.data(), static_cast<int64_t>(x.size()));
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, ulps_off(y[i], 1 / (1 + std::exp(-static_cast<long double>(x[i])))));
  EXPECT_LE(worst, 2.8);
}
TEST(VectorMath, SmallSigmoidsAreSubnormalNumbers) {
  expect_small_sigmoids<float>(-106, -80);
  expect_small_sigmoids<double>(-752, -700);
}

// Every number that float has, against double: a minute or two a function, so by hand, with
// --gtest_also_run_disabled_tests --gtest_filter='*EveryFloat*'.
class EveryFloat : public testing::TestWithParam<Case> {};
TEST_P(EveryFloat, DISABLED_IsWithinItsBound) {
  constexpr uint64_t kAtOnce = 4096;
  const Case& c = GetParam();
  const auto loop = unary_loop<float>(c.row).value;
  std::vector<float> x(kAtOnce), y(kAtOnce);
  double worst = 0.0;
  float at{};
  for (uint64_t start = 0; start < uint64_t{1} << 32; start += kAtOnce) {
    for (uint64_t i = 0; i < kAtOnce; ++i)
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(start + i));
    loop(x.data(), y.data(), kAtOnce);
    for (uint64_t i = 0; i < kAtOnce; ++i) {
      const double exact = c.in_double(static_cast<double>(x[i]));
      // Most are the nearest number.
      if (std::bit_cast<uint32_t>(y[i]) == std::bit_cast<uint32_t>(static_cast<float>(exact)))
        continue;
      const double off = ulps_off(y[i], exact);
      if (!(off <= worst)) worst = off, at = x[i];
    }
  }
  EXPECT_LE(worst, c.ulps) << c.name << "(" << at << ")";
  std::cout << c.name << " is off by " << worst << " at " << at << std::endl;
}
INSTANTIATE_TEST_SUITE_P(VectorMath, EveryFloat, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(VectorMath, FloatIsWithinTwoUlp) {
  for (const Case& c : kCases) expect_close<float>(c);
}

TEST(VectorMath, DoubleIsWithinTwoUlp) {
  for (const Case& c : kCases) expect_close<double>(c);
}

// Where what is left of an angle is so small that the second and third part of pi/2 decide it.
TEST(VectorMath, AnglesNearMultiplesOfAQuarter) {
  constexpr long double kQuarter = 1.570796326794896619231321691639751442L;
  std::vector<double> x;
  for (int quarters = 1; static_cast<double>(quarters * kQuarter) < 0x1p19; ++quarters) {
    const auto nearest = static_cast<double>(quarters * kQuarter);
    x.insert(x.end(), {nearest, std::nextafter(nearest, 0.0), -nearest, nearest * (1 + 0x1p-36)});
  }
  std::vector<double> y(x.size());
  for (const Case& c : kCases) {
    if (c.row != UnaryRow::sin && c.row != UnaryRow::cos && c.row != UnaryRow::tan) continue;
    unary_loop<double>(c.row).value(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps_off(y[i], c.exact(static_cast<long double>(x[i]))), c.ulps)
          << c.name << "(" << x[i] << ")";
  }
}

// Whether sums of products are rounded once: CPUs without AVX2 round twice, and so do the builds
// with sanitizers, in which products and sums are not fused.
bool fused() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return simd_level() > 0;
#endif
}

// Near 1 and 2, where it is zero, where it takes another factor, and of negative numbers next to
// its other zeros, where the two logarithms that it is made of are almost the same; in arrays that
// end between vectors, in place.
TEST(VectorMath, LogGammaKeepsItsDigits) {
  const auto expect = [](std::vector<double> x, double ulps) {
    std::vector<double> y = x;
    unary_loop<double>(UnaryRow::gammaln).value(y.data(), y.data(), static_cast<int64_t>(y.size()));
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(ulps_off(y[i], std::lgamma(static_cast<long double>(x[i]))), ulps) << x[i];
  };
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> around(-1, 1), bits(-52, 0);
  std::vector<double> positive{1.0, 2.0, 1e-320, 1e308, 2.5e305, 2.56e305, 3e305, INFINITY},
      negative;
  for (int i = 0; i < kCount; ++i) {
    const double near = around(random) * std::exp2(bits(random));
    positive.insert(positive.end(), {1 + near, 2 + near, 4.25 + 4.25 * around(random),
                                     100 + 92 * around(random), 2.25 + near / 64});
    negative.insert(negative.end(),
                    {-4 + 4 * around(random), -3 + near, -60 + 60 * around(random)});
  }
  expect(positive, fused() ? 4.0 : 5.0);
  expect(negative, 8.0);
  // The zeros themselves, to double: only the C library's way has digits left there.
  for (const double zero : {-2.4570247382208006, -2.7476826467274127, -3.1435808883499798,
                            -3.9552942848585979, -4.0396453498135745, -4.9913271543062559}) {
    expect({1.5, zero, std::nextafter(zero, 0), std::nextafter(zero, -9)}, 8.0);
  }
}

// The slopes of `gammaln` by vectors and those of numbers one by one.
TEST(VectorMath, SlopesOfLogGammaAreThoseOfSingleNumbers) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> anywhere(-60, 60), near(-1, 1);
  std::vector<double> x{0.0, -0.0,     -1.0,      -7.0,  1.0,    2.0,
                        8.0, INFINITY, -INFINITY, 1e300, -1e300, NAN};
  for (int i = 0; i < kCount; ++i)
    x.insert(x.end(), {anywhere(random), near(random), std::ldexp(near(random), -i % 1000)});
  std::vector<double> slope(x.size(), 1.0);
  unary_loop<double>(UnaryRow::gammaln)
      .slope(slope.data(), x.data(), slope.data(), static_cast<int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double one = digamma(x[i]);
    if (!std::isfinite(one)) {
      ASSERT_EQ(std::isnan(slope[i]), std::isnan(one)) << x[i];
      if (!std::isnan(one)) {
        ASSERT_EQ(slope[i], one) << x[i];
      }
    } else {
      // Both are differences of numbers of a few units, at poles of numbers of their size.
      ASSERT_NEAR(slope[i], one, 6e-15 * (std::fabs(one) + 1.0)) << x[i];
    }
  }
}

// Of floats beside doubles, whose loop has more terms; -0 keeps its sign.
TEST(VectorMath, InverseErfOfFloatsIsCloseToThatOfDoubles) {
  std::vector<float> x{0.0f, -0.0f, 1e-45f, -1e-40f, 1 - 0x1p-24f, -1 + 0x1p-24f, 0.5f, 0.99806f};
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> anywhere(-1, 1), bits(-24, 0);
  for (int i = 0; i < kCount; ++i) {
    x.push_back(static_cast<float>(anywhere(random)));
    x.push_back(static_cast<float>(1 - std::exp2(bits(random))));
  }
  std::vector<double> wide(x.begin(), x.end());
  std::vector<float> y(x.size());
  unary_loop<float>(UnaryRow::erfinv).value(x.data(), y.data(), static_cast<int64_t>(x.size()));
  unary_loop<double>(UnaryRow::erfinv)
      .value(wide.data(), wide.data(), static_cast<int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(ulps_off(y[i], static_cast<long double>(wide[i])), fused() ? 1.8 : 2.4) << x[i];
    ASSERT_EQ(std::signbit(y[i]), std::signbit(x[i])) << x[i];
  }
}

// What is one to the last place is one: a network that saturates, and integers that are cut off,
// see the difference.
TEST(VectorMath, SaturatedFunctionsAreExactlyOne) {
  const std::vector<float> x = {9.1f, 10.0f, 20.0f, 88.0f, 1e30f, INFINITY};
  for (const UnaryRow row : {UnaryRow::tanh, UnaryRow::erf}) {
    for (const std::size_t n : {std::size_t{1}, x.size(), std::size_t{64}}) {
      std::vector<float> in(n), out(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = i % 2 == 0 ? x[i % x.size()] : -x[i % x.size()];
      unary_loop<float>(row).value(in.data(), out.data(), static_cast<int64_t>(n));
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], in[i] > 0 ? 1.0f : -1.0f) << in[i];
    }
  }
}

// All pairs of edges, with the signs of zeros, numbers all around and of any size.
template <class T>
std::pair<std::vector<T>, std::vector<T>> points() {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T kEdges[] = {T(0),
                      T(1),
                      T(0.75),
                      T(1e-30),
                      Limits::infinity(),
                      Limits::max(),
                      Limits::min(),
                      T(1e30),
                      T(2),
                      Limits::denorm_min(),
                      T(1.5),
                      Limits::quiet_NaN()};
  std::vector<T> y, x;
  for (const T a : kEdges) {
    for (const T b : kEdges) {
      for (const int signs : {0, 1, 2, 3}) {
        y.push_back((signs & 1) != 0 ? -a : a);
        x.push_back((signs & 2) != 0 ? -b : b);
      }
    }
  }
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> range(-4, 4);
  for (int i = 0; i < kCount; ++i) {
    y.push_back(static_cast<T>(range(random)));
    x.push_back(static_cast<T>(range(random)));
    y.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    x.push_back(y.back() * static_cast<T>(range(random)));
    // Where what a table of angles leaves is largest beside the angle.
    x.push_back(static_cast<T>(range(random)));
    y.push_back(x.back() / static_cast<T>(29 + range(random) / 4));
  }
  return {y, x};
}

// `row` of two arrays, and of an array and a number.
template <class T>
void expect_of_points(BinaryRow row, long double (*exact)(long double, long double), double ulps) {
  const auto [y, x] = points<T>();
  std::vector<T> got(y.size());
  const BinaryLoop<T, T> loop = binary_loop<T, T>(row);
  loop.arrays(y.data(), x.data(), got.data(), static_cast<int64_t>(y.size()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const long double want = exact(static_cast<long double>(y[i]), static_cast<long double>(x[i]));
    ASSERT_LE(ulps_off(got[i], want), ulps) << y[i] << ", " << x[i] << ", seed " << kSeed;
    T alone;
    loop.right_scalar(&y[i], &x[i], &alone, 1);
    ASSERT_LE(ulps_off(alone, want), ulps) << y[i] << ", " << x[i];
  }
}
TEST(VectorMath, AnglesOfPointsAreWithinTwoUlp) {
  expect_of_points<float>(BinaryRow::arctan2, std::atan2, 1.6);
  expect_of_points<double>(BinaryRow::arctan2, std::atan2, 1.6);
}
// Of doubles the roundings of a square, a sum and a root.
TEST(VectorMath, DistancesOfPointsAreWithinFiveQuartersOfAnUlp) {
  expect_of_points<float>(BinaryRow::hypot, std::hypot, 0.501);
  expect_of_points<double>(BinaryRow::hypot, std::hypot, 1.25);
}

// What is a whole number is that number.
template <class T>
void expect_whole_numbers() {
  std::vector<T> x, y;
  for (T power = 1; power <= (sizeof(T) == 4 ? T(1e10) : T(1e22)); power *= 10) x.push_back(power);
  y.resize(x.size());
  unary_loop<T>(UnaryRow::log10).value(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], static_cast<T>(i)) << x[i];
  x.clear();
  constexpr int kSmallest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  for (int power = kSmallest; power < std::numeric_limits<T>::max_exponent; ++power)
    x.push_back(std::ldexp(T(1), power));
  y.resize(x.size());
  unary_loop<T>(UnaryRow::log2).value(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], static_cast<T>(kSmallest + static_cast<int>(i))) << x[i];
  x.clear();
  for (int root = -200; root <= 200; ++root) x.push_back(static_cast<T>(root * root * root));
  y.resize(x.size());
  unary_loop<T>(UnaryRow::cbrt).value(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], static_cast<T>(static_cast<int>(i) - 200)) << x[i];
}
TEST(VectorMath, WholeResultsAreExact) {
  expect_whole_numbers<float>();
  expect_whole_numbers<double>();
}

// A result must not depend on where in an array an element is: the rest of a vector loop is the
// same function.
TEST(VectorMath, EveryPositionGivesTheSame) {
  for (const Case& c : kCases) {
    const std::vector<float> x(67, 0.7318f);
    std::vector<float> y(x.size());
    unary_loop<float>(c.row).value(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (float v : y)
      EXPECT_EQ(std::bit_cast<uint32_t>(v), std::bit_cast<uint32_t>(y[0])) << c.name;
  }
}

}  // namespace
}  // namespace mxnet
