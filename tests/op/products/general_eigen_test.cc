// SPDX-License-Identifier: Apache-2.0
// Matrices with real eigenvalues, of all sizes around the vectors' and the largest that are not
// LAPACK's: they stretch their vectors by the values, also where rows and columns are of unlike
// size, values are equal, or numbers are extreme. Complex values are told.
#include "op/products/general_eigen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/simd.h"
#include "op/products/blas.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261130;
constexpr int64_t kSizes[] = {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 65, 127, 160};

enum class Kind { kSymmetric, kScaled, kOnes, kThreeDiagonals, kLarge, kSmall };
constexpr Kind kKinds[] = {Kind::kSymmetric,      Kind::kScaled, Kind::kOnes,
                           Kind::kThreeDiagonals, Kind::kLarge,  Kind::kSmall};

std::size_t size(int64_t count) { return static_cast<std::size_t>(count); }

// A symmetric matrix, whose rows and columns are scaled so that it is none, but has its
// eigenvalues.
template <class T>
std::vector<T> matrix(int64_t n, Kind kind) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<T> a(size(n * n));
  const double unit = kind == Kind::kLarge   ? std::numeric_limits<T>::max() / 4096
                      : kind == Kind::kSmall ? std::numeric_limits<T>::min() * 4096
                                             : 1;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double x = unit * number(random), y = x;
      if (kind == Kind::kScaled) {
        x *= std::ldexp(1, static_cast<int>(i % 7 - j % 7));
        y *= std::ldexp(1, static_cast<int>(j % 7 - i % 7));
      }
      if (kind == Kind::kOnes) x = y = 1;
      if (kind == Kind::kThreeDiagonals) {
        x = i == j ? static_cast<double>(i) : i == j + 1 ? 0.5 : 0;
        y = 2 * x;
      }
      a[size(i * n + j)] = static_cast<T>(x);
      if (i != j) a[size(j * n + i)] = static_cast<T>(y);
    }
  }
  return a;
}

template <class T>
void expect_eigenvectors(int64_t n, Kind kind) {
  const std::vector<T> a = matrix<T>(n, kind);
  std::vector<T> real(size(n)), imaginary(size(n), T{7}), v(size(n * n)), alone(real), spent(a),
      lapacks(real);
  ASSERT_TRUE(find_general_eigenvectors<T>(n, a.data(), real.data(), imaginary.data(), v.data()))
      << n << ", kind " << static_cast<int>(kind);
  ASSERT_EQ(imaginary, std::vector<T>(size(n))) << n << ", kind " << static_cast<int>(kind);
  ASSERT_TRUE(find_general_eigenvectors<T>(n, a.data(), alone.data(), imaginary.data(), nullptr));
  ASSERT_EQ(blas::geev(n, spent.data(), lapacks.data(), imaginary.data(), nullptr), 0);
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::abs(double{a[size(i * n + j)]});
    norm = std::max(norm, sum);
  }
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double error = 40 * eps * norm;
  for (int64_t k = 0; k < n; ++k) {
    const T* const vector = v.data() + k * n;
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += double{vector[i]} * double{vector[i]};
    ASSERT_NEAR(squares, 1, 20 * eps * static_cast<double>(n));
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += double{a[size(i * n + j)]} * double{vector[j]};
      ASSERT_NEAR(sum, double{real[size(k)]} * double{vector[i]}, error)
          << n << ", kind " << static_cast<int>(kind);
    }
  }
  for (std::vector<T>* values : {&real, &alone, &lapacks})
    std::sort(values->begin(), values->end());
  for (int64_t k = 0; k < n; ++k) {
    ASSERT_NEAR(alone[size(k)], real[size(k)], error) << n << ", kind " << static_cast<int>(kind);
    ASSERT_NEAR(lapacks[size(k)], real[size(k)], error) << n << ", kind " << static_cast<int>(kind);
  }
}

TEST(GeneralEigen, TheMatrixStretchesItsVectors) {
  if (simd_level() == 0) {  // all are LAPACK's
    EXPECT_FALSE(find_general_eigenvectors<float>(2, nullptr, nullptr, nullptr, nullptr));
    return;
  }
  for (const int64_t n : kSizes) {
    for (const Kind kind : kKinds) {
      if (kind == Kind::kThreeDiagonals && n > 65)
        continue;  // vectors grow beyond what can be told
      expect_eigenvectors<float>(n, kind);
      expect_eigenvectors<double>(n, kind);
    }
  }
}

// A rotation in a plane, among matrices with and without others beside it.
TEST(GeneralEigen, TellsComplexValues) {
  for (const int64_t n : {2, 3, 8, 20, 200}) {
    std::vector<double> a = matrix<double>(n, Kind::kSymmetric), real(size(n)), imaginary(size(n)),
                        v(size(n * n));
    a[1] = 50;
    a[size(n)] = -50;
    ASSERT_EQ(blas::geev(n, a.data(), real.data(), imaginary.data(), v.data()), 0);
    EXPECT_TRUE(std::any_of(imaginary.begin(), imaginary.end(), [](double x) { return x != 0; }))
        << n;
  }
}

// Of a triangle the values are those on the diagonal; of equal ones there need be no more vectors
// than one. LAPACK orders rows for it.
TEST(GeneralEigen, TrianglesAndDefectiveMatricesHaveTheirValues) {
  for (const int64_t n : {2, 5, 12}) {
    std::vector<double> a(size(n * n)), real(size(n)), imaginary(size(n)), v(size(n * n));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i; j < n; ++j) a[size(i * n + j)] = i == j ? 3 : 1;
    ASSERT_EQ(blas::geev(n, a.data(), real.data(), imaginary.data(), v.data()), 0);
    EXPECT_EQ(real, std::vector<double>(size(n), 3.0));
    EXPECT_EQ(imaginary, std::vector<double>(size(n)));
  }
}

TEST(GeneralEigen, OtherMatricesAreLapacks) {
  EXPECT_FALSE(find_general_eigenvectors<float>(1, nullptr, nullptr, nullptr, nullptr));
  EXPECT_FALSE(find_general_eigenvectors<double>(161, nullptr, nullptr, nullptr, nullptr));
  const float lower[] = {1, 0, 1, 2};
  float real[2], imaginary[2], v[4];
  EXPECT_FALSE(find_general_eigenvectors(2, lower, real, imaginary, v));
}

}  // namespace
}  // namespace mxnet
