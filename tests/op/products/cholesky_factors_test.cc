// SPDX-License-Identifier: Apache-2.0
// Matrices around the sizes that are halved, and those of the stripes of inverses: factors make the
// matrix again, inverses undo it, of the triangle that is given alone, on any number of threads.
#include "op/products/cholesky_factors.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261130;
constexpr int64_t kSizes[] = {1, 2, 7, 8, 9, 16, 31, 32, 33, 47, 63, 64, 65, 100, 127, 129, 193};

std::size_t size(int64_t count) { return static_cast<std::size_t>(count); }

// One triangle of a matrix that has a factor; the other one must not be looked at.
template <class T>
std::vector<T> positive(int64_t n, bool lower) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<T> a(size(n * n), std::numeric_limits<T>::quiet_NaN());
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = 0; c <= r; ++c)
      a[size(lower ? r * n + c : c * n + r)] =
          static_cast<T>(number(random) + (r == c ? static_cast<double>(n) : 0));
  return a;
}

template <class T>
void expect_factor_and_inverse(int64_t n, bool lower) {
  const std::vector<T> a = positive<T>(n, lower);
  const auto at = [&](const std::vector<T>& of, int64_t r, int64_t c) {
    return double{of[size(lower ? r * n + c : c * n + r)]};
  };
  const double error = 8 * static_cast<double>(std::numeric_limits<T>::epsilon()),
               side = static_cast<double>(n);
  std::vector<T> factor = a;
  ASSERT_EQ(factorise_cholesky(lower, n, factor.data()), 0);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      if (c > r) {
        ASSERT_EQ(at(factor, r, c), 0) << n;
        continue;
      }
      double sum = 0;
      for (int64_t l = 0; l <= c; ++l) sum += at(factor, r, l) * at(factor, c, l);
      ASSERT_NEAR(sum, at(a, r, c), error * side) << n << ": " << r << ", " << c;
    }
  }
  std::vector<T> inverse = factor;
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = r + 1; c < n; ++c)
      inverse[size(lower ? r * n + c : c * n + r)] = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> in_threads = inverse;
  ASSERT_EQ(invert_by_cholesky(lower, n, inverse.data()), 0);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      ASSERT_EQ(at(inverse, r, c), at(inverse, c, r)) << n;
      double sum = 0;
      for (int64_t l = 0; l < n; ++l)
        sum += (l <= r ? at(a, r, l) : at(a, l, r)) * at(inverse, l, c);
      ASSERT_NEAR(sum, r == c ? 1 : 0, error * 4) << n << ": " << r << ", " << c;
    }
  }
  const int threads = omp_get_max_threads();
  omp_set_num_threads(threads == 1 ? 3 : 1);
  ASSERT_EQ(invert_by_cholesky(lower, n, in_threads.data()), 0);
  omp_set_num_threads(threads);
  ASSERT_EQ(inverse, in_threads) << n;
}

TEST(CholeskyFactors, MakeTheMatrixAndUndoIt) {
  for (const int64_t n : kSizes) {
    for (const bool lower : {true, false}) {
      expect_factor_and_inverse<float>(n, lower);
      expect_factor_and_inverse<double>(n, lower);
    }
  }
}

// The first number on the diagonal that has no root, or that is zero, is told as LAPACK does.
TEST(CholeskyFactors, TellWhichRowFails) {
  for (const int64_t n : {5, 40, 100}) {
    for (const int64_t row : {int64_t{0}, n / 2, n - 1}) {
      for (const bool lower : {true, false}) {
        std::vector<double> a(size(n * n));
        for (int64_t i = 0; i < n; ++i) a[size(i * (n + 1))] = i == row ? -1 : 2;
        EXPECT_EQ(factorise_cholesky(lower, n, a.data()), row + 1) << n;
        a[size(row * (n + 1))] = 0;
        EXPECT_EQ(invert_by_cholesky(lower, n, a.data()), row + 1) << n;
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
