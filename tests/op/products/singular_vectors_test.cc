// SPDX-License-Identifier: Apache-2.0
// Matrices of all shapes around the vectors' and the most rows that are not LAPACK's, whatever
// their rank and their numbers' magnitude.
#include "op/products/singular_vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "base/simd.h"
#include "op/products/blas.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261130;

enum class Kind {
  kAny,
  kDiagonal,
  kOfRankOne,
  kOnes,
  kTriangle,
  kLarge,
  kSmall,
  kFalling,
  kRising
};
constexpr Kind kKinds[] = {Kind::kAny,   Kind::kDiagonal, Kind::kOfRankOne,
                           Kind::kOnes,  Kind::kTriangle, Kind::kLarge,
                           Kind::kSmall, Kind::kFalling,  Kind::kRising};

template <class T>
std::vector<T> matrix(int64_t m, int64_t n, Kind kind, std::mt19937_64& random) {
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> row(static_cast<std::size_t>(n));
  for (double& x : row) x = number(random);
  std::vector<T> a;
  for (int64_t i = 0; i < m; ++i) {
    const double along = number(random);
    for (int64_t j = 0; j < n; ++j) {
      double x = number(random);
      switch (kind) {
        case Kind::kAny:
          break;
        case Kind::kDiagonal:
          x = i == j ? std::round(3 * x) : 0;
          break;
        case Kind::kOfRankOne:
          x = along * row[static_cast<std::size_t>(j)];
          break;
        case Kind::kOnes:
          x = 1;
          break;
        case Kind::kTriangle:
          x = i <= j;
          break;
        case Kind::kLarge:
          x *= std::numeric_limits<T>::max() / 1000;
          break;
        case Kind::kSmall:
          x *= std::numeric_limits<T>::min() * 1000;
          break;
        case Kind::kFalling:
          x *= std::pow(0.5, static_cast<double>(i + j));
          break;
        case Kind::kRising:
          x *= std::pow(0.5, static_cast<double>(m - i + n - j));
          break;
      }
      a.push_back(static_cast<T>(x));
    }
  }
  return a;
}

// a is u diag(s) v, and rows of v and columns of u are of length one and across each other.
template <class T>
void expect_singular_vectors(int64_t m, int64_t n, Kind kind) {
  std::mt19937_64 random(kSeed);
  const std::vector<T> a = matrix<T>(m, n, kind, random);
  const int64_t least = std::min(m, n), most = std::max(m, n);
  const auto size = [](int64_t count) { return static_cast<std::size_t>(count); };
  std::vector<T> u(size(m * least)), s(size(least)), v(size(least * n));
  ASSERT_TRUE(find_singular_vectors(m, n, a.data(), u.data(), s.data(), v.data()))
      << m << " x " << n << ", kind " << static_cast<int>(kind);
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double side = static_cast<double>(most);
  EXPECT_TRUE(std::is_sorted(s.rbegin(), s.rend()));
  EXPECT_GE(s.back(), T{0});
  const double error = 20 * eps * (s[0] > T{0} ? double{s[0]} : 1);
  for (int64_t i = 0; i < least; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double left = 0, right = 0;
      for (int64_t l = 0; l < m; ++l)
        left += double{u[size(l * least + i)]} * double{u[size(l * least + j)]};
      for (int64_t l = 0; l < n; ++l)
        right += double{v[size(i * n + l)]} * double{v[size(j * n + l)]};
      ASSERT_NEAR(left, i == j ? 1 : 0, 10 * side * eps)
          << m << " x " << n << ", kind " << static_cast<int>(kind);
      ASSERT_NEAR(right, i == j ? 1 : 0, 10 * side * eps)
          << m << " x " << n << ", kind " << static_cast<int>(kind);
    }
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < least; ++l)
        sum += double{u[size(i * least + l)]} * double{s[size(l)]} * double{v[size(l * n + j)]};
      ASSERT_NEAR(sum, double{a[size(i * n + j)]}, error)
          << m << " x " << n << ", kind " << static_cast<int>(kind);
    }
  }
}

TEST(SingularVectors, MakeTheMatrix) {
  if (simd_level() == 0) {
    EXPECT_FALSE(find_singular_vectors<float>(1, 1, nullptr, nullptr, nullptr, nullptr));
    return;
  }
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1},
                             {1, 7},
                             {5, 1},
                             {2, 2},
                             {3, 3},
                             {4, 5},
                             {8, 8},
                             {9, 17},
                             {17, 16},
                             {16, 31},
                             {33, 33},
                             {7, 40},
                             {65, 20},
                             {64, 64},
                             {127, 100},
                             {160, 160},
                             {200, 31},
                             {90, 400},
                             {161, 160}}) {
    for (const Kind kind : kKinds) {
      expect_singular_vectors<float>(m, n, kind);
      expect_singular_vectors<double>(m, n, kind);
    }
  }
}

// Zeros on the diagonal, in the middle and at the end, and nothing but zeros: LAPACK's matrices,
// too.
TEST(SingularVectors, HaveZeroValuesWhereTheMatrixIsSingular) {
  constexpr int64_t n = 6;
  for (int64_t missing = 0; missing < n; ++missing) {
    std::vector<double> a(n * n), u(a), s(n), v(a);
    double squares = 0, values = 0;
    for (int64_t i = 0; i < n; ++i) {
      a[static_cast<std::size_t>(i * n + i)] = i == missing ? 0 : static_cast<double>(i + 1);
      if (i > 0) a[static_cast<std::size_t>(i * n + i - 1)] = 1;
    }
    for (const double x : a) squares += x * x;
    ASSERT_EQ(blas::gesdd(n, n, a.data(), u.data(), s.data(), v.data()), 0);
    for (const double x : s) values += x * x;
    EXPECT_NEAR(s.back(), 0, 1e-15) << missing;
    EXPECT_NEAR(values, squares, 1e-13 * squares) << missing;
  }
  std::vector<float> zeros(n * n), u(zeros), s(n, 1.0F), v(zeros);
  ASSERT_EQ(blas::gesdd(n, n, zeros.data(), u.data(), s.data(), v.data()), 0);
  EXPECT_EQ(s, std::vector<float>(n));
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(std::abs(u[i * n + i]), 1);
}

TEST(SingularVectors, LargerMatricesAreLapacks) {
  EXPECT_FALSE(find_singular_vectors<float>(161, 161, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace
}  // namespace mxnet
