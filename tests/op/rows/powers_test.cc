// SPDX-License-Identifier: Apache-2.0
// Powers of float and double and their slopes, as the loops of this CPU's widest instruction set
// compute them, against long double: edges, random bit patterns and what programs ask for.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "op/rows/binary_loops.h"
#include "op/ulps.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20240611;
constexpr int kCount = 100000;

template <class T>
struct Pairs {
  std::vector<T> a, b;
  void add(T x, T y) {
    a.push_back(x);
    b.push_back(y);
  }
};

template <class T>
Pairs<T> pairs() {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T kEdges[] = {T(0),
                      -T(0),
                      T(1),
                      T(-1),
                      Limits::infinity(),
                      -Limits::infinity(),
                      T(0.5),
                      T(-0.5),
                      T(2),
                      T(-2),
                      Limits::quiet_NaN(),
                      Limits::max(),
                      Limits::lowest(),
                      Limits::min(),
                      T(3),
                      T(-3),
                      T(-7.5),
                      T(1e20),
                      Limits::denorm_min(),
                      -Limits::denorm_min(),
                      T(1e-20),
                      T(16777217),
                      T(9007199254740993),
                      std::nextafter(T(1), T(2)),
                      std::nextafter(T(1), T(0)),
                      T(1) / Limits::epsilon() + T(1)};
  Pairs<T> pairs;
  for (const T x : kEdges)
    for (const T y : kEdges) pairs.add(x, y);
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> range(-4, 4);
  // The largest exponent of e that a result may have.
  const T most = std::log(Limits::max()), least = std::log(Limits::denorm_min());
  std::uniform_real_distribution<T> exponent(least, most);
  for (int i = 0; i < kCount; ++i) {
    pairs.add(std::bit_cast<T>(static_cast<Bits>(random())),
              std::bit_cast<T>(static_cast<Bits>(random())));
    pairs.add(std::exp2(10 * range(random)) * (i % 4 == 0 ? T(-1) : T(1)),
              i % 2 == 0 ? std::round(range(random)) / 2 : range(random));
    // Any number, to a power that reaches all results.
    T a = std::fabs(std::bit_cast<T>(static_cast<Bits>(random())));
    if (!std::isfinite(a) || a == T(0)) a = T(1.5);
    pairs.add(a, exponent(random) / std::log(a));
    // Numbers about 1 have large powers.
    a = T(1) + range(random) * std::exp2(-std::fabs(10 * range(random)) - 3);
    pairs.add(a, exponent(random) / std::log(a));
  }
  return pairs;
}

// Exponents whose powers a few steps make, where they are those of all numbers.
constexpr double kShortExponents[] = {2, 3, 0.5, -1, -2, -0.5};
bool is_short(double exponent) {
  return std::find(std::begin(kShortExponents), std::end(kShortExponents), exponent) !=
         std::end(kShortExponents);
}

// Off by no more than half a step and a little, of which long double may know too few digits.
template <class T>
bool is_rounded_once(T got, long double exact) {
  const T size = std::fabs(got),
          step = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return ulps_off(got, exact) < 0.501 || std::fabs(got - exact) < 0.501L * step;
}

template <class T>
void expect_powers(double most_ulps) {
  const Pairs<T> p = pairs<T>();
  std::vector<T> y(p.a.size());
  const BinaryLoop<T, T> loop = binary_loop<T, T>(BinaryRow::power);
  loop.arrays(p.a.data(), p.b.data(), y.data(), static_cast<int64_t>(y.size()));
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const long double exact =
        std::pow(static_cast<long double>(p.a[i]), static_cast<long double>(p.b[i]));
    const double off = ulps_off(y[i], exact);
    ASSERT_LE(off, most_ulps) << p.a[i] << " ^ " << p.b[i] << " = " << y[i] << ", seed " << kSeed;
    worst = std::max(worst, off);
    T alone[2];
    loop.right_scalar(&p.a[i], &p.b[i], &alone[0], 1);
    loop.left_scalar(&p.a[i], &p.b[i], &alone[1], 1);
    for (const T& value : alone) {
      const bool nearer = &value == &alone[0] && is_short(p.b[i]) && is_rounded_once(value, exact);
      ASSERT_TRUE(nearer || value == y[i] || (std::isnan(value) && std::isnan(y[i])))
          << p.a[i] << " ^ " << p.b[i] << " alone " << value << ", in an array " << y[i];
    }
  }
  testing::Test::RecordProperty(sizeof(T) == 4 ? "float" : "double", std::to_string(worst));
}

TEST(Powers, OfFloatsAreWithinTwoUlp) { expect_powers<float>(2); }
TEST(Powers, OfDoublesAreWithinOneUlp) { expect_powers<double>(1); }

// As near as one rounding brings them, among numbers for which the steps do not hold, too.
template <class T>
void expect_short_powers() {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> numbers = pairs<T>().a;
  const BinaryLoop<T, T> loop = binary_loop<T, T>(BinaryRow::power);
  for (const double exponent : kShortExponents) {
    const T b = static_cast<T>(exponent);
    std::vector<T> y(numbers.size());
    loop.right_scalar(numbers.data(), &b, y.data(), static_cast<int64_t>(y.size()));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const long double exact = std::pow(static_cast<long double>(numbers[i]), exponent);
      const bool usual = std::fabs(exact) >= Limits::min() / Limits::epsilon();
      ASSERT_TRUE(is_rounded_once(y[i], exact) || (!usual && ulps_off(y[i], exact) <= 2))
          << numbers[i] << " ^ " << b << " = " << y[i] << ", seed " << kSeed;
    }
    // Of any length, and in place.
    for (int64_t n = 0; n < 70; ++n) {
      std::vector<T> some(numbers.end() - 70, numbers.end());
      loop.right_scalar(some.data(), &b, some.data(), n);
      for (int64_t i = 0; i < 70; ++i) {
        const auto at = numbers.size() - 70 + static_cast<std::size_t>(i);
        const T got = some[static_cast<std::size_t>(i)], want = i < n ? y[at] : numbers[at];
        ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << n << ", " << i;
      }
    }
  }
}
// Not by way of others beside them for which the steps do not hold.
template <class T>
void expect_powers_without_neighbours() {
  constexpr std::size_t kNumbers = 1024, kBetween = 16;
  const BinaryLoop<T, T> loop = binary_loop<T, T>(BinaryRow::power);
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> size(-30, 30);
  std::vector<T> usual(kNumbers);
  for (T& x : usual) x = std::exp2(size(random));
  std::vector<T> mixed = usual, y(kNumbers), beside(kNumbers);
  for (std::size_t i = 0; i < kNumbers; i += kBetween)
    mixed[i] = std::numeric_limits<T>::infinity();
  for (const double exponent : kShortExponents) {
    const T b = static_cast<T>(exponent);
    loop.right_scalar(usual.data(), &b, y.data(), int64_t{kNumbers});
    loop.right_scalar(mixed.data(), &b, beside.data(), int64_t{kNumbers});
    for (std::size_t i = 0; i < kNumbers; ++i) {
      if (i % kBetween == 0) continue;
      ASSERT_EQ(y[i], beside[i]) << usual[i] << " ^ " << b << ", seed " << kSeed;
    }
  }
}
TEST(Powers, ToShortExponentsHaveNoNeighbours) {
  expect_powers_without_neighbours<float>();
  expect_powers_without_neighbours<double>();
}
TEST(Powers, ToShortExponentsAreRoundedOnce) {
  expect_short_powers<float>();
  expect_short_powers<double>();
}

// Exact where they are whole.
TEST(Powers, OfWholeNumbersAreExact) {
  std::vector<double> a, b;
  for (int base = -20; base <= 20; ++base) {
    for (int exponent = 0; exponent <= 12; ++exponent) {
      a.push_back(base);
      b.push_back(exponent);
    }
  }
  std::vector<double> y(a.size());
  binary_loop<double, double>(BinaryRow::power)
      .arrays(a.data(), b.data(), y.data(), static_cast<int64_t>(y.size()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    double exact = 1;
    for (int k = 0; k < b[i]; ++k) exact *= a[i];
    if (std::fabs(exact) < 0x1p53) {
      EXPECT_EQ(y[i], exact) << a[i] << " ^ " << b[i];
    }
  }
}

// b a^(b - 1) and a^b log(a), each factor within its bound.
template <class T>
void expect_slopes() {
  const Pairs<T> p = pairs<T>();
  std::vector<T> dy(p.a.size()), dx(p.a.size());
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<T>(1 + i % 5);
  for (const bool left : {true, false}) {
    binary_slope<T>(BinaryRow::power, left)(dy.data(), p.a.data(), p.b.data(), dx.data(),
                                            static_cast<int64_t>(dx.size()));
    for (std::size_t i = 0; i < dx.size(); ++i) {
      const T a = p.a[i], b = p.b[i];
      const T power = std::pow(a, left ? b - T(1) : b);
      const T want = dy[i] * (left ? b * power : power * std::log(a));
      if (dx[i] == want) continue;
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(dx[i])) << a << ", " << b << ": " << dx[i];
      } else if (std::fabs(want) < std::numeric_limits<T>::min() * 8 ||
                 std::fabs(power) < std::numeric_limits<T>::min() * 8) {
        const double factor = left ? std::fabs(double{b}) : std::fabs(std::log(double{a}));
        ASSERT_LE(std::fabs(double{dx[i]} - double{want}),
                  64.0 * std::numeric_limits<T>::denorm_min() * (1 + factor))
            << a << ", " << b << ": " << dx[i] << ", expected " << want;
      } else {
        ASSERT_LE(ulps_off(dx[i], static_cast<long double>(want)), 8)
            << a << ", " << b << ": " << dx[i] << ", expected " << want;
      }
    }
  }
}
TEST(Powers, HaveTheirSlopes) {
  expect_slopes<float>();
  expect_slopes<double>();
}

}  // namespace
}  // namespace mxnet
