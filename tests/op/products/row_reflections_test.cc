// SPDX-License-Identifier: Apache-2.0
// Symmetric matrices of all sizes around the vectors' and the largest that are not LAPACK's:
// vectors are of length one, across each other, and the matrix stretches them by the values,
// whatever the numbers' magnitude; the triangle that is not given is not read. Likewise LQ factors.
#include "op/products/row_reflections.h"

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
constexpr int64_t kSizes[] = {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65, 127, 160};

enum class Kind { kAny, kDiagonal, kOfRankOne, kEqualValues, kLarge, kSmall, kGraded };
constexpr Kind kKinds[] = {Kind::kAny,   Kind::kDiagonal, Kind::kOfRankOne, Kind::kEqualValues,
                           Kind::kLarge, Kind::kSmall,    Kind::kGraded};

template <class T>
std::vector<T> symmetric(int64_t n, Kind kind, std::mt19937_64& random) {
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> line(static_cast<std::size_t>(n));
  for (double& x : line) x = number(random);
  std::vector<T> a(static_cast<std::size_t>(n * n));
  const double size = kind == Kind::kLarge   ? std::numeric_limits<T>::max() / 1000
                      : kind == Kind::kSmall ? std::numeric_limits<T>::min() * 1000
                                             : 1;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double x = number(random) * size;
      if (kind == Kind::kDiagonal) x = i == j ? std::round(3 * x) : 0;
      if (kind == Kind::kOfRankOne)
        x = line[static_cast<std::size_t>(i)] * line[static_cast<std::size_t>(j)];
      if (kind == Kind::kEqualValues) x = i == j ? 0 : 1;
      if (kind == Kind::kGraded) x *= std::pow(0.5, static_cast<double>(i + j));
      a[static_cast<std::size_t>(i * n + j)] = a[static_cast<std::size_t>(j * n + i)] =
          static_cast<T>(x);
    }
  }
  return a;
}

template <class T>
void expect_eigenvectors(int64_t n, Kind kind, bool lower) {
  std::mt19937_64 random(kSeed);
  const std::vector<T> whole = symmetric<T>(n, kind, random);
  std::vector<T> a = whole;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (lower ? j > i : j < i)
        a[static_cast<std::size_t>(i * n + j)] = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> alone = a, w(static_cast<std::size_t>(n)), values(w);
  ASSERT_TRUE(find_eigenvectors(lower, true, n, a.data(), w.data()));
  ASSERT_TRUE(find_eigenvectors(lower, false, n, alone.data(), values.data()));
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  double norm = 0;  // the largest sum of a row
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += std::abs(double{whole[static_cast<std::size_t>(i * n + j)]});
    norm = std::max(norm, sum);
  }
  const double side = static_cast<double>(n), error = 40 * eps * (norm > 0 ? norm : 1);
  EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
  for (int64_t i = 0; i < n; ++i) {
    EXPECT_NEAR(values[static_cast<std::size_t>(i)], w[static_cast<std::size_t>(i)], error);
    const T* const u = a.data() + i * n;
    for (int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < n; ++l)
        sum += double{u[l]} * double{a[static_cast<std::size_t>(j * n + l)]};
      ASSERT_NEAR(sum, i == j ? 1 : 0, 10 * side * eps) << n << ", kind " << static_cast<int>(kind);
    }
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < n; ++l)
        sum += double{whole[static_cast<std::size_t>(j * n + l)]} * double{u[l]};
      ASSERT_NEAR(sum, double{w[static_cast<std::size_t>(i)]} * double{u[j]}, error)
          << n << ", kind " << static_cast<int>(kind);
    }
  }
}

TEST(RowReflections, TheMatrixStretchesItsVectors) {
  if (simd_level() == 0) {  // all are LAPACK's
    EXPECT_FALSE(find_eigenvectors<float>(true, true, 2, nullptr, nullptr));
    return;
  }
  for (const int64_t n : kSizes) {
    for (const Kind kind : kKinds) {
      for (const bool lower : {true, false}) {
        expect_eigenvectors<float>(n, kind, lower);
        expect_eigenvectors<double>(n, kind, lower);
      }
    }
  }
}

// Rows of zeros, of one number and of extreme ones are among them.
template <class T>
void expect_lapacks_lq(int64_t m, int64_t n) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(m * n));
  for (T& x : a) x = static_cast<T>(number(random));
  const auto row = [&](int64_t i) { return a.begin() + i * n; };
  if (m > 4) {
    std::fill_n(row(1), n, T{0});
    std::fill_n(row(2), n, -T{0});
    for (int64_t j = 0; j < n; ++j) {
      row(3)[j] *= std::numeric_limits<T>::max() / 64;
      row(4)[j] *= std::numeric_limits<T>::min() * 16;
    }
  }
  std::fill(row(0) + 1, row(1), T{0});
  std::vector<T> q = a, l(static_cast<std::size_t>(m * m), T{7}), lapacks_q = a, lapacks_l = l;
  ASSERT_TRUE(find_lq(m, n, q.data(), l.data()));
  ASSERT_EQ(blas::gelqf(m, n, lapacks_q.data(), lapacks_l.data()), 0);
  const double error = 200 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (int64_t i = 0; i < m; ++i) {
    double size = std::numeric_limits<T>::min();  // of the row
    for (int64_t j = 0; j < n; ++j) size = std::max(size, std::abs(double{row(i)[j]}));
    for (int64_t j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(i * m + j);
      ASSERT_NEAR(l[at], lapacks_l[at], error * size * 16)
          << m << " x " << n << ": " << i << ", " << j;
      if (j > i) {
        ASSERT_EQ(l[at], 0);
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      ASSERT_NEAR(q[at], lapacks_q[at], error * 64) << m << " x " << n << ": " << i << ", " << j;
    }
  }
}

TEST(RowReflections, LowerFactorsAreLapacks) {
  if (simd_level() == 0) {
    EXPECT_FALSE(find_lq<float>(1, 1, nullptr, nullptr));
    return;
  }
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1},
                             {1, 5},
                             {3, 16},
                             {2, 17},
                             {17, 33},
                             {31, 31},
                             {50, 127},
                             {64, 64},
                             {100, 160}}) {
    expect_lapacks_lq<float>(m, n);
    expect_lapacks_lq<double>(m, n);
  }
}

TEST(RowReflections, LargerMatricesAreLapacks) {
  EXPECT_FALSE(find_eigenvectors<double>(true, true, 161, nullptr, nullptr));
  EXPECT_FALSE(find_eigenvectors<float>(true, true, 1, nullptr, nullptr));
  EXPECT_FALSE(find_lq<float>(2, 161, nullptr, nullptr));
}

}  // namespace
}  // namespace mxnet
