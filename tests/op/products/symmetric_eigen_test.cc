// SPDX-License-Identifier: Apache-2.0
// Symmetric matrices of all sizes around the vectors' and the largest that are not LAPACK's:
// vectors are of length one, across each other, and the matrix stretches them by the values,
// whatever the numbers' magnitude; the triangle that is not given is not read.
#include "op/products/symmetric_eigen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/simd.h"

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

TEST(SymmetricEigen, TheMatrixStretchesItsVectors) {
  if (simd_level() < 2) {  // all are LAPACK's
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

TEST(SymmetricEigen, LargerMatricesAreLapacks) {
  EXPECT_FALSE(find_eigenvectors<double>(true, true, 161, nullptr, nullptr));
  EXPECT_FALSE(find_eigenvectors<float>(true, true, 1, nullptr, nullptr));
}

}  // namespace
}  // namespace mxnet
