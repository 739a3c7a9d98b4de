// SPDX-License-Identifier: Apache-2.0
// Series of products of few rows and columns against sums written out: any side turned,
// factors that all products share, gaps between rows and between matrices, which stay as they are.
// The arrays end with their last element, so that the address sanitizer sees who reads on.
#include "op/products/small_products.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <random>
#include <vector>

#include "op/products/products.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261127;

// How the matrices of a test lie.
struct Layout {
  bool turned_a, turned_b, shared_b, gaps;
};

template <class T>
struct Factor {
  std::vector<T> numbers;
  int64_t leading, step;
};
// `count` matrices of rows x columns, or one; small integers, whose sums are exact.
template <class T>
Factor<T> factor(int64_t count, int64_t rows, int64_t columns, bool turned, bool gaps,
                 std::mt19937_64& random) {
  if (turned) std::swap(rows, columns);
  const int64_t leading = columns + (gaps ? 2 : 0), size = (rows - 1) * leading + columns;
  const int64_t step = size + (gaps ? 5 : 0);
  std::vector<T> numbers(static_cast<std::size_t>((count - 1) * step + size));
  for (T& x : numbers) x = static_cast<T>(random() % 9) - T{4};
  return {numbers, leading, count > 1 ? step : 0};
}

template <class T>
void expect_sums(int64_t count, int64_t m, int64_t n, int64_t k, const Layout& as) {
  std::mt19937_64 random(kSeed);
  const Factor<T> a = factor<T>(count, m, k, as.turned_a, as.gaps, random);
  const Factor<T> b = factor<T>(as.shared_b ? 1 : count, k, n, as.turned_b, as.gaps, random);
  Factor<T> c = factor<T>(count, m, n, false, as.gaps, random);
  std::vector<T> want = c.numbers;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          const int64_t left = as.turned_a ? l * a.leading + r : r * a.leading + l;
          const int64_t right = as.turned_b ? j * b.leading + l : l * b.leading + j;
          sum += a.numbers[static_cast<std::size_t>(i * a.step + left)] *
                 b.numbers[static_cast<std::size_t>(i * b.step + right)];
        }
        want[static_cast<std::size_t>(i * c.step + r * c.leading + j)] = 3 * sum;
      }
    }
  }
  const int64_t start[] = {0};
  multiply(Products<T>{as.turned_a, as.turned_b,
                       m,           n,
                       k,           a.numbers.data(),
                       a.leading,   b.numbers.data(),
                       b.leading,   c.numbers.data(),
                       c.leading,   T{3},
                       T{0},        start,
                       start,       start,
                       count,       a.step,
                       b.step,      c.step});
  ASSERT_EQ(c.numbers, want) << count << " of " << m << " x " << n << " x " << k
                             << (as.turned_a ? ", left turned" : "")
                             << (as.turned_b ? ", right turned" : "")
                             << (as.shared_b ? ", right shared" : "") << (as.gaps ? ", gaps" : "");
}

template <class T>
void expect_all_sums() {
  for (int bits = 0; bits < 16; ++bits) {
    const Layout as{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    for (const int64_t count : {1, 2, 5}) {
      for (int64_t m = 1; m <= 8; ++m)
        for (int64_t n = 1; n <= 8; ++n)
          for (const int64_t k : {1, 3, 4, 8}) expect_sums<T>(count, m, n, k, as);
      for (const int64_t m : {1, 7, 32})
        for (int64_t n = 1; n <= kSmallSide + 1; ++n)
          for (const int64_t k : {1, 9, 32, 33}) expect_sums<T>(count, m, n, k, as);
      for (const int64_t m : {5, 8, 16})  // squares that are turned, with and without ends
        for (int64_t n = 7; n <= kSmallSide; ++n)
          for (const int64_t k : {7, 8, 11, 16}) expect_sums<T>(count, m, n, k, as);
      for (const int64_t m : {7, 8, 19, 24, 32})
        for (const int64_t n : {17, 18, 23, 24, 25, 31, 32, 33})
          for (const int64_t k : {7, 8, 9, 17, 24, 32}) expect_sums<T>(count, m, n, k, as);
    }
  }
}

TEST(SmallProducts, AreSums) {
  expect_all_sums<float>();
  expect_all_sums<double>();
}

// Split in any way, with others beside them or alone: the digits tell.
template <class T>
void expect_no_neighbours(int64_t side) {
  const SmallProductLoop<T> multiply_small = small_product_loop<T>();
  if (multiply_small == nullptr) GTEST_SKIP() << "this processor has no vectors for it";
  constexpr int64_t kCount = 9;
  const int64_t size = side * side;
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> number(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(kCount * size)), b(a.size()), all(a.size()),
      parts(a.size());
  for (auto* numbers : {&a, &b})
    for (T& x : *numbers) x = number(random);
  SmallProducts<T> p{side, side, side, a.data(),   side, 1,    size, b.data(),
                     side, 1,    size, all.data(), side, size, 1};
  multiply_small(p, kCount, 0, kCount);
  p.c = parts.data();
  for (int64_t first = 0; first < kCount; first += 2)
    multiply_small(p, kCount, first, std::min(first + 2, kCount));
  EXPECT_EQ(parts, all);
  for (int64_t i = 0; i < kCount; ++i) {
    SmallProducts<T> one = p;
    one.a += i * size;
    one.b += i * size;
    std::vector<T> alone(static_cast<std::size_t>(size));
    one.c = alone.data();
    multiply_small(one, 1, 0, 1);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + i * size))
        << side << ", " << i;
  }
}

TEST(SmallProducts, DoNotDependOnTheirNeighbours) {
  for (const int64_t side : {3, 7, 9, 16, 21, 32}) {
    expect_no_neighbours<float>(side);
    expect_no_neighbours<double>(side);
  }
}

// Of many rows, which threads share: the digits tell.
template <class T>
void expect_the_same_on_any_threads() {
  if (small_product_loop<T>() == nullptr) GTEST_SKIP() << "this processor has no vectors for it";
  constexpr int64_t kRows = 40007, kColumns = 13, kDepth = 11;
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> number(-1, 1);
  std::vector<T> a(kRows * kDepth), b(kDepth * kColumns), c(kRows * kColumns), alone;
  for (auto* all : {&a, &b})
    for (T& x : *all) x = number(random);
  const int before = omp_get_max_threads();
  const int64_t start[] = {0};
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    c.assign(c.size(), T{7});
    multiply(Products<T>{false, false, kRows, kColumns, kDepth, a.data(), kDepth, b.data(),
                         kColumns, c.data(), kColumns, T{1}, T{0}, start, start, start});
    if (alone.empty()) alone = c;
    EXPECT_EQ(c, alone) << threads << " threads";
  }
  omp_set_num_threads(before);
  for (int64_t i = 0; i < kRows; i += 997) {
    for (int64_t j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < kDepth; ++l)
        sum += double{a[static_cast<std::size_t>(i * kDepth + l)]} *
               double{b[static_cast<std::size_t>(l * kColumns + j)]};
      ASSERT_NEAR(alone[static_cast<std::size_t>(i * kColumns + j)], sum, 4e-6);
    }
  }
}

TEST(SmallProducts, OfManyRowsAreTheSameOnAnyThreads) {
  expect_the_same_on_any_threads<float>();
  expect_the_same_on_any_threads<double>();
}

}  // namespace
}  // namespace mxnet
