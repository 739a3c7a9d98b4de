// SPDX-License-Identifier: Apache-2.0
// Powers, least common multiples, angles and products with powers of two of integers, as the loops
// of this CPU's widest instruction set compute them, against one element at a time: numbers of any
// size, the ends of the range, zeros, and any length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "no_resources.h"
#include "op/rows/binary_kernel.h"
#include "op/rows/binary_loops.h"
#include "op/rows/row_math.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 811;

// Every pair of numbers that matter, then pairs of any size.
template <class T>
void pairs(std::vector<T>* a, std::vector<T>* b) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> edges{Limits::min(), T(Limits::min() + 1), T(Limits::min() / 2), Limits::max(),
                       T(Limits::max() - 1)};
  for (int i = -9; i <= 9; ++i) edges.push_back(static_cast<T>(i));
  for (int i = 0; i < Limits::digits; ++i) edges.push_back(static_cast<T>(T{1} << i));
  for (const T x : edges)
    for (const T y : edges) a->push_back(x), b->push_back(y);
  std::mt19937_64 random(kSeed);
  const auto number = [&random] {
    const auto bits = static_cast<int64_t>(random());
    return static_cast<T>(bits >> (random() % 64));
  };
  for (int i = 0; i < 20000; ++i) a->push_back(number()), b->push_back(number());
}

// n results; an array of one element meets all of the other.
template <class T>
void run(BinaryRow row, const T* a, int64_t size_a, const T* b, int64_t size_b, T* y, int64_t n) {
  NoResources resources;
  KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
  const Shape shape_a{size_a}, shape_b{size_b}, shape{n};
  constexpr DType kType = dtype_of<T>;
  run_binary(row, {const_cast<T*>(a), &shape_a, kType}, {const_cast<T*>(b), &shape_b, kType},
             {y, &shape, kType}, context);
}

template <class T>
void expect_as_one_by_one(BinaryRow row, T (*one)(T, T)) {
  std::vector<T> a, b;
  pairs(&a, &b);
  const auto n = static_cast<int64_t>(a.size());
  std::vector<T> got(a.size());
  run(row, a.data(), n, b.data(), n, got.data(), n);
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(got[i], one(a[i], b[i])) << +a[i] << ", " << +b[i];
  for (std::size_t k = 0; k < 300; k += 7) {
    run(row, a.data(), n, &b[k], 1, got.data(), n);
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(got[i], one(a[i], b[k])) << +a[i] << ", " << +b[k];
    const std::size_t at = k * 64 % a.size();
    run(row, &a[at], 1, b.data(), n, got.data(), n);
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(got[i], one(a[at], b[i])) << +a[at] << ", " << +b[i];
  }
  // In place, at any length, and nothing beyond the end.
  for (int64_t count = 0; count < 200; ++count) {
    std::vector<T> over = a;
    run(row, over.data(), count, b.data(), count, over.data(), count);
    for (std::size_t i = 0; i < 256; ++i)
      ASSERT_EQ(over[i], i < static_cast<std::size_t>(count) ? one(a[i], b[i]) : a[i]) << count;
  }
}

TEST(WholeNumbers, PowersAreThoseOfOneByOne) {
  expect_as_one_by_one<int8_t>(BinaryRow::power, row_math::power);
  expect_as_one_by_one<uint8_t>(BinaryRow::power, row_math::power);
  expect_as_one_by_one<int32_t>(BinaryRow::power, row_math::power);
  expect_as_one_by_one<int64_t>(BinaryRow::power, row_math::power);
}
TEST(WholeNumbers, ProductsWithPowersOfTwoAreThoseOfOneByOne) {
  expect_as_one_by_one<int8_t>(BinaryRow::ldexp, row_math::scale_by_power);
  expect_as_one_by_one<uint8_t>(BinaryRow::ldexp, row_math::scale_by_power);
  expect_as_one_by_one<int32_t>(BinaryRow::ldexp, row_math::scale_by_power);
  expect_as_one_by_one<int64_t>(BinaryRow::ldexp, row_math::scale_by_power);
}
TEST(WholeNumbers, LeastCommonMultiplesAreThoseOfOneByOne) {
  expect_as_one_by_one<int8_t>(BinaryRow::lcm, row_math::common_multiple);
  expect_as_one_by_one<uint8_t>(BinaryRow::lcm, row_math::common_multiple);
  expect_as_one_by_one<int32_t>(BinaryRow::lcm, row_math::common_multiple);
  expect_as_one_by_one<int64_t>(BinaryRow::lcm, row_math::common_multiple);
}

template <class T>
T whole_angle(T a, T b) {
  return static_cast<T>(std::atan2(static_cast<double>(a), static_cast<double>(b)));
}
TEST(WholeNumbers, AnglesAreThoseOfTheLibrary) {
  expect_as_one_by_one<int8_t>(BinaryRow::arctan2, whole_angle);
  expect_as_one_by_one<uint8_t>(BinaryRow::arctan2, whole_angle);
  expect_as_one_by_one<int32_t>(BinaryRow::arctan2, whole_angle);
  expect_as_one_by_one<int64_t>(BinaryRow::arctan2, whole_angle);
}
// Fractions next to the tangents of 1, 2 and 3, closer than doubles tell apart.
TEST(WholeNumbers, AnglesNextToAWholeOneAreThoseOfTheLibrary) {
  for (int angle = 1; angle <= 3; ++angle) {
    const long double tangent = std::tan(static_cast<long double>(angle));
    std::vector<int64_t> a, b;
    for (int64_t by = 1; by < int64_t{1} << 60; by += by / 2 + 1) {
      const auto most = static_cast<int64_t>(tangent * static_cast<long double>(by));
      for (int64_t step = -2; step <= 2; ++step) {
        a.insert(a.end(), {most + step, -most - step});
        b.insert(b.end(), {by, -by});
      }
    }
    std::vector<int64_t> got(a.size());
    binary_loop<int64_t, int64_t>(BinaryRow::arctan2)
        .arrays(a.data(), b.data(), got.data(), static_cast<int64_t>(a.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(got[i], whole_angle(a[i], b[i])) << a[i] << ", " << b[i];
  }
}

}  // namespace
}  // namespace mxnet
