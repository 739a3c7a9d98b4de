// SPDX-License-Identifier: Apache-2.0
// Sums of products of rows of every length against sums written out: gaps between rows, one row
// that others meet, numbers that are not finite. The arrays end with their last element, so that
// the address sanitizer sees who reads on.
#include "op/products/row_dots.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "op/products/products.h"
#include "op/products/small_integers.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261129;

template <class T>
std::vector<T> products_of_rows(int64_t count, int64_t k, const std::vector<T>& a, int64_t step_a,
                                const std::vector<T>& b, int64_t step_b, int64_t step_c, T alpha) {
  std::vector<T> c(static_cast<std::size_t>((count - 1) * step_c + 1), T{7});
  const int64_t start[] = {0};
  multiply(Products<T>{false,    true,  1,        1,      k,      a.data(), k,
                       b.data(), k,     c.data(), 1,      alpha,  T{0},     start,
                       start,    start, count,    step_a, step_b, step_c});
  return c;
}

template <class T>
class RowDotsOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RowDotsOf, Types);

TYPED_TEST(RowDotsOf, AreSums) {
  using T = TypeParam;
  std::mt19937_64 random(kSeed);
  for (int64_t k = 1; k <= kLongestDot + 1; k += k < 70 ? 1 : 17) {
    for (const int64_t count : {2, 3, 4, 9}) {
      for (const int64_t gap : {0, 3}) {
        const int64_t step = k + gap, step_c = gap + 1;
        const std::vector<T> a = small_integers<T>((count - 1) * step + k, random),
                             b = small_integers<T>(gap == 0 ? k : a.size(), random);
        const int64_t step_b = gap == 0 ? 0 : step;
        const std::vector<T> c = products_of_rows(count, k, a, step, b, step_b, step_c, T{3});
        for (int64_t i = 0; i < static_cast<int64_t>(c.size()); ++i) {
          T want = 7;  // between the sums
          if (i % step_c == 0) {
            want = 0;
            for (int64_t l = 0; l < k; ++l)
              want += 3 * a[static_cast<std::size_t>(i / step_c * step + l)] *
                      b[static_cast<std::size_t>(i / step_c * step_b + l)];
          }
          ASSERT_EQ(c[static_cast<std::size_t>(i)], want)
              << count << " rows of " << k << ", " << gap << " between them, at " << i;
        }
      }
    }
  }
}

// What is not finite spoils its own row only, although vectors reach back in it, and no sum is -0.
TYPED_TEST(RowDotsOf, MeetNothingElse) {
  using T = TypeParam;
  for (const int64_t k : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100}) {
    constexpr int64_t kRows = 6, kSpoilt = 2;
    std::vector<T> a(static_cast<std::size_t>(kRows * k), T{0}), b(a.size(), -T{1});
    for (int64_t l = 0; l < k; ++l) {
      for (const T special :
           {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
        std::vector<T> spoilt = a;
        spoilt[static_cast<std::size_t>(kSpoilt * k + l)] = special;
        const std::vector<T> c = products_of_rows(kRows, k, spoilt, k, b, k, 1, T{1});
        for (int64_t i = 0; i < kRows; ++i) {
          const T sum = c[static_cast<std::size_t>(i)];
          if (i != kSpoilt) {
            ASSERT_EQ(sum, T{0});
            ASSERT_FALSE(std::signbit(sum)) << k;
          } else if (std::isnan(special)) {
            ASSERT_TRUE(std::isnan(sum)) << k << ", " << l;
          } else {
            ASSERT_EQ(sum, -special) << k << ", " << l;
          }
        }
      }
    }
  }
}

// Split in any way: the digits tell.
TYPED_TEST(RowDotsOf, DoNotDependOnTheirNeighbours) {
  using T = TypeParam;
  const RowDotsLoop<T> loop = row_dots_loop<T>();
  if (loop == nullptr) GTEST_SKIP() << "this processor has no vectors for it";
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> number(-1, 1);
  for (const int64_t k : {2, 3, 5, 12, 16, 45, 200}) {
    constexpr int64_t kRows = 11;
    std::vector<T> a(static_cast<std::size_t>(kRows * k)), b(a.size()), all(kRows), parts(kRows);
    for (auto* numbers : {&a, &b})
      for (T& x : *numbers) x = number(random);
    RowDots<T> p{k, a.data(), k, b.data(), k, all.data(), 1, T{1}};
    loop(p, 0, kRows);
    for (const int64_t part : {1, 2, 3, 5, 8}) {
      p.c = parts.data();
      for (int64_t first = 0; first < kRows; first += part)
        loop(p, first, std::min(first + part, kRows));
      ASSERT_EQ(parts, all) << "rows of " << k << ", " << part << " at once";
    }
  }
}

}  // namespace
}  // namespace mxnet
