// SPDX-License-Identifier: Apache-2.0
// Products of a matrix with a few rows or columns against sums written out: either side the thin
// one, any factor transposed, gaps between rows, ends of vectors; the same digits on any threads;
// what is not finite meets nothing else. The arrays end with their last element, so that the
// address sanitizer sees who reads on.
#include "op/products/thin_products.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "op/products/products.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261130;

// A matrix whose rows are `gap` elements further apart than they are long.
template <class T>
struct Matrix {
  Matrix(int64_t rows, int64_t columns, int64_t gap)
      : row(columns + gap), numbers(static_cast<std::size_t>((rows - 1) * row + columns), T{7}) {}
  T& at(int64_t r, int64_t c) { return numbers[static_cast<std::size_t>(r * row + c)]; }
  int64_t row;
  std::vector<T> numbers;
};

template <class T>
struct Product {
  Product(bool turn_a, bool turn_b, int64_t rows, int64_t columns, int64_t depth, int64_t gap = 0)
      : transpose_a(turn_a),
        transpose_b(turn_b),
        m(rows),
        n(columns),
        k(depth),
        a(turn_a ? k : m, turn_a ? m : k, gap),
        b(turn_b ? n : k, turn_b ? k : n, gap),
        c(m, n, gap) {}

  template <class Next>
  void fill(const Next& next) {
    for (auto* all : {&a.numbers, &b.numbers})
      for (T& x : *all) x = next();
  }
  T& left(int64_t i, int64_t l) { return transpose_a ? a.at(l, i) : a.at(i, l); }
  T& right(int64_t l, int64_t j) { return transpose_b ? b.at(j, l) : b.at(l, j); }
  void make() {
    const int64_t start[] = {0};
    multiply(Products<T>{transpose_a, transpose_b, m, n, k, a.numbers.data(), a.row,
                         b.numbers.data(), b.row, c.numbers.data(), c.row, T{1}, T{0}, start, start,
                         start});
  }

  bool transpose_a, transpose_b;
  int64_t m, n, k;
  Matrix<T> a, b, c;
};

// For all sides that may be turned, and either one the thin one.
template <class T, class F>
void each_product(int64_t few, int64_t wide, int64_t k, int64_t gap, const F& fn) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const bool left : {false, true}) {
        Product<T> p(transpose_a, transpose_b, left ? few : wide, left ? wide : few, k, gap);
        SCOPED_TRACE(testing::Message() << p.m << " x " << p.n << " x " << k << ", " << transpose_a
                                        << transpose_b << ", gap " << gap);
        fn(p);
      }
    }
  }
}

template <class T>
class ThinProductsOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ThinProductsOf, Types);

TYPED_TEST(ThinProductsOf, AreSums) {
  using T = TypeParam;
  std::mt19937_64 random(kSeed);
  const auto expect_sums = [&](Product<T>& p) {
    p.fill([&] { return static_cast<T>(random() % 9) - T{4}; });
    p.make();
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.c.row; ++j) {
        if (j >= p.n && i + 1 == p.m) break;
        T want = 7;  // between the rows
        if (j < p.n) {
          want = 0;
          for (int64_t l = 0; l < p.k; ++l) want += p.left(i, l) * p.right(l, j);
        }
        ASSERT_EQ(p.c.at(i, j), want) << i << ", " << j;
      }
    }
  };
  for (const int64_t few : {2, 3, 4, 5, 8, 9, 16, 17})
    for (const int64_t wide : {17, 33, 70})
      for (const int64_t k : {2, 16, 31, 33, 65, 130})
        each_product<T>(few, wide, k, 0, expect_sums);
  for (const int64_t few : {2, 3, 6})
    for (const int64_t k : {7, 64, 1100}) each_product<T>(few, 1100, k, 3, expect_sums);
}

// Real numbers, whose sums are rounded: a number is the same wherever it is computed.
TYPED_TEST(ThinProductsOf, AreTheSameOnAnyThreads) {
  using T = TypeParam;
  if (!suits_thin<T>(false, false, 2, 1000, 200))
    GTEST_SKIP() << "this processor has no vectors for it";
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> number(-1, 1);
  const int before = omp_get_max_threads();
  for (const int64_t few : {2, 3, 7, 16}) {
    each_product<T>(few, 5003, 150, 0, [&](Product<T>& p) {
      p.fill([&] { return number(random); });
      std::vector<T> alone;
      for (const int threads : {1, 2, 3}) {
        omp_set_num_threads(threads);
        p.make();
        if (alone.empty()) alone = p.c.numbers;
        EXPECT_EQ(p.c.numbers, alone) << threads << " threads";
      }
      for (int64_t i = 0; i < p.m; i += 1 + p.m / 40) {
        for (int64_t j = 0; j < p.n; j += 1 + p.n / 40) {
          double sum = 0, size = 0;
          for (int64_t l = 0; l < p.k; ++l) {
            const double term = double{p.left(i, l)} * double{p.right(l, j)};
            sum += term;
            size += std::abs(term);
          }
          ASSERT_NEAR(p.c.at(i, j), sum, size * std::numeric_limits<T>::epsilon() * 4);
        }
      }
    });
  }
  omp_set_num_threads(before);
}

// Of lanes that are left out nothing is met, and no sum is -0.
TYPED_TEST(ThinProductsOf, MeetNothingElse) {
  using T = TypeParam;
  constexpr int64_t kRow = 5;
  for (const T special :
       {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
    for (const int64_t k : {33, 64}) {
      each_product<T>(3, 37, k, 2, [&](Product<T>& p) {
        const bool in_left = p.m > p.n;
        // What lies between the rows is no part of it.
        p.fill([&] { return special; });
        for (int64_t l = 0; l < k; ++l) {
          for (int64_t i = 0; i < p.m; ++i) p.left(i, l) = in_left ? T{0} : T{-1};
          for (int64_t j = 0; j < p.n; ++j) p.right(l, j) = in_left ? T{-1} : T{0};
        }
        (in_left ? p.left(kRow, k - 1) : p.right(k - 1, kRow)) = special;
        p.make();
        for (int64_t i = 0; i < p.m; ++i) {
          for (int64_t j = 0; j < p.n; ++j) {
            const T sum = p.c.at(i, j);
            if ((in_left ? i : j) != kRow) {
              ASSERT_EQ(sum, T{0}) << i << ", " << j;
              ASSERT_FALSE(std::signbit(sum)) << i << ", " << j;
            } else if (std::isnan(special)) {
              ASSERT_TRUE(std::isnan(sum)) << i << ", " << j;
            } else {
              ASSERT_EQ(sum, -special) << i << ", " << j;
            }
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace mxnet
