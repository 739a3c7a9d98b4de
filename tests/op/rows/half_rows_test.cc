// SPDX-License-Identifier: Apache-2.0
// Rows of float16 whose numbers stay in registers: every float16 that there is, against double; and
// rows that are bits or an instruction or two, of both half types, against float.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/half.h"
#include "op/rows/half_loops.h"
#include "op/rows/unary_loops.h"

namespace mxnet {
namespace {

template <class T>
std::vector<T> all_numbers() {
  std::vector<T> all(1 << 16);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<uint16_t>(i);
  return all;
}

double to_double(float16 x) { return double{static_cast<float>(x)}; }

// A result next to the exact one: rounded once from what is off by a few ulp of float.
void expect_nearest(float16 got, double exact, double x) {
  const float16 nearest(static_cast<float>(exact));
  if (std::isnan(exact) || std::isinf(static_cast<float>(nearest))) {
    const float want = static_cast<float>(nearest), is = static_cast<float>(got);
    ASSERT_TRUE(std::isnan(want) ? std::isnan(is) : is == want) << x << ": " << is;
    return;
  }
  if (got.bits == nearest.bits) return;
  const double unit = std::fmax(std::ldexp(1.0, std::ilogb(exact) - 10), 0x1p-24);
  ASSERT_LE(std::fabs(to_double(got) - exact), 0.502 * unit) << x << ": " << to_double(got);
}

struct Row {
  UnaryRow row;
  double (*exact)(double);
};
const Row kRows[] = {
    {UnaryRow::expm1, std::expm1}, {UnaryRow::exp, std::exp},   {UnaryRow::log, std::log},
    {UnaryRow::log1p, std::log1p}, {UnaryRow::log2, std::log2}, {UnaryRow::log10, std::log10},
    {UnaryRow::sin, std::sin},     {UnaryRow::cos, std::cos},   {UnaryRow::tan, std::tan},
    {UnaryRow::sinh, std::sinh},   {UnaryRow::cosh, std::cosh}, {UnaryRow::tanh, std::tanh},
    {UnaryRow::cbrt, std::cbrt}};

TEST(HalfRows, EveryNumberGivesTheNearest) {
  const std::vector<float16> x = all_numbers<float16>();
  for (const Row& row : kRows) {
    const auto loop = unary_half_loop<float16>(row.row);
    if (loop == nullptr) continue;  // this processor goes through float
    std::vector<float16> y(x.size());
    loop(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      SCOPED_TRACE(static_cast<int>(row.row));
      expect_nearest(y[i], row.exact(to_double(x[i])), to_double(x[i]));
      if (HasFatalFailure()) break;
    }
  }
}

// Ends of arrays, in place too.
TEST(HalfRows, EveryLengthGivesTheSame) {
  const std::vector<float16> x = all_numbers<float16>();
  for (const Row& row : kRows) {
    const auto loop = unary_half_loop<float16>(row.row);
    if (loop == nullptr) continue;
    std::vector<float16> whole(80), part(80);
    constexpr int64_t kFrom = 0x3400;
    loop(x.data() + kFrom, whole.data(), 80);
    for (int64_t n = 0; n < 40; ++n) {
      std::memcpy(part.data(), x.data() + kFrom, 80 * sizeof(float16));
      loop(part.data(), part.data(), n);
      for (int64_t i = 0; i < 80; ++i) {
        const float16 want =
            i < n ? whole[static_cast<std::size_t>(i)] : x[static_cast<std::size_t>(kFrom + i)];
        ASSERT_EQ(part[static_cast<std::size_t>(i)].bits, want.bits) << n << ", " << i;
      }
    }
  }
}

template <class T>
void expect_bits() {
  const std::vector<T> x = all_numbers<T>();
  std::vector<T> y(x.size());
  for (const UnaryRow row : {UnaryRow::abs, UnaryRow::negative, UnaryRow::relu}) {
    const auto loop = unary_half_loop<T>(row);
    ASSERT_NE(loop, nullptr);
    loop(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto number = static_cast<float>(x[i]);
      float want;
      unary_loop<float>(row).value(&number, &want, 1);
      if (std::isnan(number)) {
        ASSERT_TRUE(std::isnan(static_cast<float>(y[i]))) << x[i].bits;
      } else {
        ASSERT_EQ(y[i].bits, T(want).bits) << x[i].bits << ", row " << static_cast<int>(row);
      }
    }
  }
}
TEST(HalfRows, SignsAreBits) {
  expect_bits<float16>();
  expect_bits<bfloat16>();
}

// Equal bits, or NaN of any bits.
template <class T>
void expect_same(T got, float want, float a, float b) {
  if (std::isnan(want)) {
    ASSERT_TRUE(std::isnan(static_cast<float>(got))) << a << ", " << b;
  } else {
    ASSERT_EQ(got.bits, T(want).bits) << a << ", " << b << ": " << static_cast<float>(got);
  }
}

// Rows of an instruction or two give what those of float give, rounded once.
template <class T>
void expect_floats_rounded() {
  const std::vector<T> x = all_numbers<T>();
  std::vector<float> numbers(x.size()), want(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) numbers[i] = static_cast<float>(x[i]);
  const auto n = static_cast<int64_t>(x.size());
  for (const UnaryRow row : {UnaryRow::sqrt, UnaryRow::reciprocal, UnaryRow::rsqrt,
                             UnaryRow::degrees, UnaryRow::radians, UnaryRow::ceil, UnaryRow::floor,
                             UnaryRow::fix, UnaryRow::trunc, UnaryRow::rint, UnaryRow::square}) {
    SCOPED_TRACE(static_cast<int>(row));
    const auto loop = unary_half_loop<T>(row);
    if (loop == nullptr) continue;  // this processor goes through float
    std::vector<T> y(x.size());
    loop(x.data(), y.data(), n);
    unary_loop<float>(row).value(numbers.data(), want.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) expect_same(y[i], want[i], numbers[i], 0);
    constexpr std::size_t kFrom = 0x3e00;
    for (std::size_t count = 0; count < 40; ++count) {  // in place, and nothing beyond
      std::vector<T> part(x.begin() + kFrom, x.begin() + kFrom + 48);
      loop(part.data(), part.data(), static_cast<int64_t>(count));
      for (std::size_t i = 0; i < part.size(); ++i)
        ASSERT_EQ(part[i].bits, i < count ? y[kFrom + i].bits : x[kFrom + i].bits) << count;
    }
  }
}
TEST(HalfRows, PlainRowsAreThoseOfFloatRounded) {
  expect_floats_rounded<float16>();
  expect_floats_rounded<bfloat16>();
}

template <class T>
void expect_pairs_rounded() {
  const std::vector<T> a = all_numbers<T>();
  const std::size_t n = a.size();
  const auto count = static_cast<int64_t>(n);
  std::vector<T> b(n), y(n);
  std::vector<float> left(n), right(n), want(n);
  constexpr std::size_t kOdd = 25717;  // any number meets another, far from it
  for (std::size_t i = 0; i < n; ++i) b[i] = a[(i * kOdd + 77) % n];
  for (std::size_t i = 0; i < n; ++i)
    left[i] = static_cast<float>(a[i]), right[i] = static_cast<float>(b[i]);
  for (const BinaryRow row :
       {BinaryRow::add, BinaryRow::subtract, BinaryRow::multiply, BinaryRow::divide,
        BinaryRow::maximum, BinaryRow::minimum, BinaryRow::copysign}) {
    SCOPED_TRACE(static_cast<int>(row));
    const BinaryLoop<T, T> loop = half_loop<T>(row);
    if (loop.arrays == nullptr) continue;
    const BinaryLoop<float, float> floats = binary_loop<float, float>(row);
    loop.arrays(a.data(), b.data(), y.data(), count);
    floats.arrays(left.data(), right.data(), want.data(), count);
    for (std::size_t i = 0; i < n; ++i) expect_same(y[i], want[i], left[i], right[i]);
    for (const float one : {0.0f, -0.0f, 1.5f, -3.0f, 1e-7f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      const T single(one);
      const auto number = static_cast<float>(single);
      loop.right_scalar(a.data(), &single, y.data(), count);
      floats.right_scalar(left.data(), &number, want.data(), count);
      for (std::size_t i = 0; i < n; ++i) expect_same(y[i], want[i], left[i], number);
      loop.left_scalar(&single, b.data(), y.data(), count);
      floats.left_scalar(&number, right.data(), want.data(), count);
      for (std::size_t i = 0; i < n; ++i) expect_same(y[i], want[i], number, right[i]);
    }
    for (int64_t some = 0; some < 40; ++some) {  // in place, and nothing beyond
      constexpr std::size_t kFrom = 0x3e00;
      std::vector<T> part(a.begin() + kFrom, a.begin() + kFrom + 48);
      loop.arrays(part.data(), b.data() + kFrom, part.data(), some);
      floats.arrays(left.data() + kFrom, right.data() + kFrom, want.data(), some);
      for (std::size_t i = 0; i < part.size(); ++i) {
        const float wanted = i < static_cast<std::size_t>(some) ? want[i] : left[kFrom + i];
        expect_same(part[i], wanted, left[kFrom + i], right[kFrom + i]);
      }
    }
  }
}
TEST(HalfRows, ArithmeticIsThatOfFloatRounded) {
  expect_pairs_rounded<float16>();
  expect_pairs_rounded<bfloat16>();
}

template <class T>
void expect_powers_rounded() {
  const std::vector<T> a = all_numbers<T>();
  const auto n = static_cast<int64_t>(a.size());
  std::vector<float> numbers(a.size()), want(a.size());
  std::vector<T> y(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) numbers[i] = static_cast<float>(a[i]);
  for (const float exponent : {2.0f, 3.0f, 0.5f, -1.0f, -2.0f, -0.5f}) {
    const auto loop = half_powers<T>(exponent);
    if (loop == nullptr) return;  // this processor goes through float
    const T single(exponent);
    loop(a.data(), &single, y.data(), n);
    binary_loop<float, float>(BinaryRow::power)
        .right_scalar(numbers.data(), &exponent, want.data(), n);
    for (std::size_t i = 0; i < a.size(); ++i) expect_same(y[i], want[i], numbers[i], exponent);
    for (int64_t some = 0; some < 40; ++some) {  // in place, and nothing beyond
      constexpr std::size_t kFrom = 0x3e00;
      std::vector<T> part(a.begin() + kFrom, a.begin() + kFrom + 48);
      loop(part.data(), &single, part.data(), some);
      for (std::size_t i = 0; i < part.size(); ++i)
        ASSERT_EQ(part[i].bits,
                  i < static_cast<std::size_t>(some) ? y[kFrom + i].bits : a[kFrom + i].bits);
    }
  }
  EXPECT_EQ(half_powers<T>(1.5f), nullptr);
}
TEST(HalfRows, ShortPowersAreThoseOfFloatRounded) {
  expect_powers_rounded<float16>();
  expect_powers_rounded<bfloat16>();
}

}  // namespace
}  // namespace mxnet
