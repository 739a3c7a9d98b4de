// SPDX-License-Identifier: Apache-2.0
// Batches of matrices on both sides of the size from which on LAPACK factorises them: results are
// what their matrices ask for, pivots and singular matrices LAPACK's, and none depends on its
// neighbours.
#include "op/products/matrix_batches.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/simd.h"
#include "op/products/blas.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261127;
// Around the sizes up to which they are worked on in lanes, and by themselves.
constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33};
// Around the lanes of vectors of all widths.
constexpr int64_t kCounts[] = {1, 2, 5, 16, 19, 33};

template <class T>
std::vector<T> numbers(int64_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<T> number(-1, 1);
  std::vector<T> all(static_cast<std::size_t>(count));
  for (T& x : all) x = number(random);
  return all;
}

// a b of matrix i, of n x n and n x sides, at (r, c).
template <class T>
double product_at(int64_t n, int64_t sides, const std::vector<T>& a, const std::vector<T>& b,
                  int64_t i, int64_t r, int64_t c) {
  double sum = 0;
  for (int64_t l = 0; l < n; ++l)
    sum += double{a[static_cast<std::size_t>((i * n + r) * n + l)]} *
           double{b[static_cast<std::size_t>((i * n + l) * sides + c)]};
  return sum;
}

// Matrices that are far from singular.
template <class T>
std::vector<T> regular(int64_t n, int64_t count, std::mt19937_64& random) {
  std::vector<T> a = numbers<T>(count * n * n, random);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t r = 0; r < n; ++r)
      a[static_cast<std::size_t>((i * n + r) * n + (r + 1) % n)] += static_cast<T>(n);
  return a;
}

template <class T>
constexpr double kError = sizeof(T) == sizeof(float) ? 1e-5 : 1e-13;

template <class T>
void expect_inverses_and_solutions(int64_t n, int64_t count) {
  std::mt19937_64 random(kSeed);
  const std::vector<T> a = regular<T>(n, count, random);
  std::vector<int32_t> pivots(static_cast<std::size_t>(count * n));
  std::vector<T> inverse = a;
  ASSERT_EQ(matrix_batches::invert(n, count, inverse.data(), pivots.data()), 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c < n; ++c)
        ASSERT_NEAR(product_at(n, n, a, inverse, i, r, c), r == c ? 1 : 0, kError<T>)
            << n << ", " << i << " of " << count;
  for (const int64_t sides : {1, 3, 8, 9, 33}) {
    const std::vector<T> b = numbers<T>(count * n * sides, random);
    std::vector<T> spent = a, x = b;
    ASSERT_EQ(matrix_batches::solve(n, sides, count, spent.data(), pivots.data(), x.data()), 0);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t r = 0; r < n; ++r)
        for (int64_t c = 0; c < sides; ++c)
          ASSERT_NEAR(product_at(n, sides, a, x, i, r, c),
                      b[static_cast<std::size_t>((i * n + r) * sides + c)], kError<T>)
              << n << ", " << i << " of " << count;
  }
}

TEST(MatrixBatches, InversesAndSolutionsSolve) {
  for (const int64_t count : kCounts) {
    for (const int64_t n : kSizes) {
      expect_inverses_and_solutions<float>(n, count);
      expect_inverses_and_solutions<double>(n, count);
    }
  }
}

template <class T>
void expect_lapacks_factors(int64_t n, int64_t count) {
  std::mt19937_64 random(kSeed);
  std::vector<T> mine = numbers<T>(count * n * n, random), lapacks = mine;
  std::vector<int32_t> pivots(static_cast<std::size_t>(count * n)), expected(pivots.size());
  matrix_batches::factorise(n, count, mine.data(), pivots.data());
  for (int64_t i = 0; i < count; ++i)
    blas::getrf(n, n, lapacks.data() + i * n * n, n, expected.data() + i * n);
  EXPECT_EQ(pivots, expected) << n;
  for (std::size_t e = 0; e < mine.size(); ++e)
    ASSERT_NEAR(mine[e], lapacks[e], 100 * kError<T> * (1 + std::abs(lapacks[e]))) << n;
}

TEST(MatrixBatches, FactorsAndPivotsAreLapacks) {
  for (const int64_t count : kCounts) {
    for (const int64_t n : kSizes) {
      expect_lapacks_factors<float>(n, count);
      expect_lapacks_factors<double>(n, count);
    }
  }
}

// Around where halves of halves begin, and where triangles are halved, too.
TEST(MatrixBatches, LargeMatricesAreFactorisedByHalves) {
  for (const int64_t n : {128, 129, 193, 257, 521}) {
    for (const int64_t count : {1, 2}) {
      expect_inverses_and_solutions<float>(n, count);
      expect_inverses_and_solutions<double>(n, count);
    }
    expect_lapacks_factors<float>(n, 1);
    expect_lapacks_factors<double>(n, 1);
  }
}

// The same digits whatever threads share the work.
TEST(MatrixBatches, FactorsOfLargeMatricesDoNotDependOnThreads) {
  constexpr int64_t kSide = 700;
  std::mt19937_64 random(kSeed);
  const std::vector<double> a = numbers<double>(kSide * kSide, random);
  std::vector<double> factors[2];
  std::vector<int32_t> pivots[2];
  const int before = omp_get_max_threads();
  for (const int threads : {1, 4}) {
    omp_set_num_threads(threads);
    const int i = threads == 1 ? 0 : 1;
    factors[i] = a;
    pivots[i].resize(kSide);
    matrix_batches::factorise(kSide, 1, factors[i].data(), pivots[i].data());
  }
  omp_set_num_threads(before);
  EXPECT_EQ(pivots[0], pivots[1]);
  EXPECT_EQ(factors[0], factors[1]);
}

TEST(MatrixBatches, SolutionsOfLargeSystemsDoNotDependOnThreads) {
  constexpr int64_t kSide = 500, kSides = 333;
  std::mt19937_64 random(kSeed);
  const std::vector<double> a = numbers<double>(kSide * kSide, random);
  const std::vector<double> right = numbers<double>(kSide * kSides, random);
  std::vector<double> solutions[2];
  const int before = omp_get_max_threads();
  for (const int threads : {1, 4}) {
    omp_set_num_threads(threads);
    std::vector<double> spent = a, x = right;
    std::vector<int32_t> pivots(kSide);
    matrix_batches::solve(kSide, kSides, 1, spent.data(), pivots.data(), x.data());
    solutions[threads == 1 ? 0 : 1] = x;
  }
  omp_set_num_threads(before);
  EXPECT_EQ(solutions[0], solutions[1]);
  for (int64_t i = 0; i < kSide; i += 61) {
    double sum = 0;
    for (int64_t k = 0; k < kSide; ++k)
      sum += a[static_cast<std::size_t>(i * kSide + k)] *
             solutions[0][static_cast<std::size_t>(k * kSides)];
    EXPECT_NEAR(sum, right[static_cast<std::size_t>(i * kSides)], 1e-8);
  }
}

// The first column that depends on those before it, in either half.
TEST(MatrixBatches, LargeSingularMatricesFailWithLapacksInfo) {
  constexpr int64_t kSide = 200;
  for (const int64_t column : {10, 70, 150}) {
    std::vector<double> a(kSide * kSide);
    for (int64_t i = 0; i < kSide; ++i)
      a[static_cast<std::size_t>(i * (kSide + 1))] = i == column ? 0 : static_cast<double>(1 + i);
    std::vector<int32_t> pivots(kSide);
    std::vector<double> spent = a, x(kSide, 1.0);
    EXPECT_EQ(matrix_batches::invert(kSide, 1, spent.data(), pivots.data()), column + 1);
    EXPECT_EQ(matrix_batches::solve(kSide, 1, 1, a.data(), pivots.data(), x.data()), column + 1);
  }
}

// Of equal candidates the first is the pivot; rows of powers of two have exact factors.
TEST(MatrixBatches, EqualPivotsAndSingularMatricesAreLapacks) {
  std::mt19937_64 random(kSeed);
  int singular = 0;
  for (const int64_t n : kSizes) {
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<double> a(static_cast<std::size_t>(n * n));
      for (double& x : a) x = static_cast<double>(random() % 3) - 1;
      std::vector<double> mine = a, lapacks = a;
      std::vector<int32_t> pivots(static_cast<std::size_t>(n)), expected(pivots.size());
      const int info = blas::getrf(n, n, lapacks.data(), n, expected.data());
      matrix_batches::factorise(n, 1, mine.data(), pivots.data());
      if (n <= 3) {  // multipliers are 0, 1 and 1/2: nothing is rounded
        EXPECT_EQ(mine, lapacks);
        EXPECT_EQ(pivots, expected);
        EXPECT_EQ(matrix_batches::invert(n, 1, a.data(), pivots.data()), info);
        singular += info != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(singular, 100);
}

template <class T>
void expect_cholesky_factors(int64_t n, int64_t count, bool lower) {
  std::mt19937_64 random(kSeed);
  const std::vector<T> half = numbers<T>(count * n * n, random);
  std::vector<T> a(half.size());
  const auto at = [&](std::vector<T>& of, int64_t i, int64_t r, int64_t c) -> T& {
    return of[static_cast<std::size_t>((i * n + (lower ? r : c)) * n + (lower ? c : r))];
  };
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t c = 0; c <= r; ++c) {
        double sum = r == c ? 1 : 0;
        for (int64_t l = 0; l < n; ++l)
          sum += double{half[static_cast<std::size_t>((i * n + r) * n + l)]} *
                 half[static_cast<std::size_t>((i * n + c) * n + l)];
        at(a, i, r, c) = static_cast<T>(sum);
        if (c < r) at(a, i, c, r) = std::numeric_limits<T>::quiet_NaN();  // is not looked at
      }
    }
  }
  std::vector<T> factor = a;
  ASSERT_EQ(matrix_batches::cholesky(lower, n, count, factor.data()), 0);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        if (c > r) {
          ASSERT_EQ(at(factor, i, r, c), T{0});
          continue;
        }
        double sum = 0;
        for (int64_t l = 0; l <= c; ++l)
          sum += double{at(factor, i, r, l)} * double{at(factor, i, c, l)};
        ASSERT_NEAR(sum, at(a, i, r, c), 10 * kError<T>) << n << ", " << i << " of " << count;
      }
    }
  }
}

TEST(MatrixBatches, CholeskyFactorsAreOfOneTriangle) {
  for (const int64_t count : kCounts) {
    for (const int64_t n : kSizes) {
      for (const bool lower : {false, true}) {
        expect_cholesky_factors<float>(n, count, lower);
        expect_cholesky_factors<double>(n, count, lower);
      }
    }
  }
}

// Pivots whose reciprocals are no numbers: subnormal ones.
template <class T>
void expect_solutions_of_subnormal_pivots(int64_t n) {
  const T pivot = 1024 * std::numeric_limits<T>::denorm_min();
  const auto rows = static_cast<std::size_t>(n);
  std::vector<T> a(rows * rows, T{0}), x(rows, 3 * pivot);
  for (std::size_t r = 0; r < rows; ++r) a[r * rows + (r + 1) % rows] = pivot;
  std::vector<int32_t> pivots(rows);
  std::vector<T> factors = a;
  matrix_batches::factorise(n, 1, factors.data(), pivots.data());
  for (const T factor : factors) EXPECT_TRUE(factor == 0 || factor == pivot) << n;
  ASSERT_EQ(matrix_batches::solve(n, 1, 1, a.data(), pivots.data(), x.data()), 0);
  EXPECT_EQ(x, std::vector<T>(rows, T{3})) << n;
}

TEST(MatrixBatches, ExtremePivotsDivide) {
  // Larger ones, and all where there are no vectors, are LAPACK's, which is not exact here.
  const int64_t most = simd_level() > 0 ? 32 : 0;
  for (const int64_t n : kSizes) {
    if (n > most) break;
    expect_solutions_of_subnormal_pivots<float>(n);
    expect_solutions_of_subnormal_pivots<double>(n);
  }
  // Multipliers are zero where the pivot is infinite, as LAPACK's are.
  constexpr double kInf = std::numeric_limits<double>::infinity();
  std::vector<double> a{kInf, 1, kInf, 2}, x{1, 4};
  std::vector<int32_t> pivots(2);
  ASSERT_EQ(matrix_batches::solve(2, 1, 1, a.data(), pivots.data(), x.data()), 0);
  EXPECT_EQ(x, (std::vector<double>{0, 2}));
}

// A matrix that is singular or not finite fails or spoils itself alone.
TEST(MatrixBatches, DoNotDependOnTheirNeighbours) {
  constexpr int64_t kCount = 37;
  std::mt19937_64 random(kSeed);
  for (const int64_t n : kSizes) {
    if (n == 1) continue;
    const auto size = static_cast<std::size_t>(n * n);
    std::vector<float> a = regular<float>(n, kCount, random);
    std::fill_n(a.begin() + 3 * n * n, n, std::numeric_limits<float>::quiet_NaN());
    std::vector<int32_t> pivots(static_cast<std::size_t>(kCount * n));
    std::vector<float> all = a;
    EXPECT_EQ(matrix_batches::invert(n, kCount, all.data(), pivots.data()), 0);
    for (std::size_t i = 0; i < kCount; ++i) {
      if (i == 3) continue;
      std::vector<float> alone(a.begin() + static_cast<std::ptrdiff_t>(i * size),
                               a.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
      matrix_batches::invert(n, 1, alone.data(), pivots.data());
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                             all.begin() + static_cast<std::ptrdiff_t>(i * size)))
          << n << ", " << i;
    }
    std::fill_n(a.begin() + 7 * n * n, n, 0.0f);
    all = a;
    EXPECT_GT(matrix_batches::invert(n, kCount, all.data(), pivots.data()), 0);
    std::fill_n(a.begin() + 3 * n * n, n, 1.0f);
    EXPECT_GT(matrix_batches::cholesky(true, n, kCount, a.data()), 0);
  }
}

template <class T>
struct Lq {
  std::vector<T> q, l;
};
template <class T>
Lq<T> lq_of(int64_t m, int64_t n, int64_t count, int64_t batch, const std::vector<T>& a) {
  Lq<T> factors{a, std::vector<T>(static_cast<std::size_t>(count * m * m), T{7})};
  EXPECT_EQ(matrix_batches::lq(m, n, count, batch, factors.q.data(), factors.l.data()), 0);
  return factors;
}
template <class T>
Lq<T> lapacks_lq(int64_t m, int64_t n, int64_t count, const std::vector<T>& a) {
  Lq<T> factors{a, std::vector<T>(static_cast<std::size_t>(count * m * m))};
  for (int64_t i = 0; i < count; ++i)
    EXPECT_EQ(blas::gelqf(m, n, factors.q.data() + i * m * n, factors.l.data() + i * m * m), 0);
  return factors;
}

template <class T>
void expect_lapacks_lq(int64_t m, int64_t n, int64_t count) {
  std::mt19937_64 random(kSeed);
  std::vector<T> a = numbers<T>(count * m * n, random);
  const bool zeros = count % 2 == 0;  // of which rounding alone may give a corner its sign
  for (T& x : a)
    if (zeros && random() % 8 == 0) x = random() % 2 == 0 ? T{0} : -T{0};
  const Lq<T> mine = lq_of(m, n, count, count, a), lapacks = lapacks_lq(m, n, count, a);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < m; ++c) {
        const T *const one = mine.q.data() + (i * m + r) * n, *const other =
                                                                  mine.q.data() + (i * m + c) * n;
        double dot = 0;
        for (int64_t e = 0; e < n; ++e) dot += double{one[e]} * double{other[e]};
        ASSERT_NEAR(dot, r == c ? 1 : 0, kError<T>) << m << " x " << n;
        const T of_l = mine.l[static_cast<std::size_t>((i * m + r) * m + c)];
        ASSERT_TRUE(c <= r || of_l == T{0}) << m << " x " << n;
      }
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t e = 0; e < m; ++e)
          sum += double{mine.l[static_cast<std::size_t>((i * m + r) * m + e)]} *
                 double{mine.q[static_cast<std::size_t>((i * m + e) * n + c)]};
        ASSERT_NEAR(sum, a[static_cast<std::size_t>((i * m + r) * n + c)], 10 * kError<T>)
            << m << " x " << n;
      }
      // Corners have LAPACK's signs.
      const auto corner = static_cast<std::size_t>((i * m + r) * m + r);
      const T expected = zeros ? mine.l[corner] : lapacks.l[corner];
      ASSERT_NEAR(mine.l[corner], expected, 1e3 * kError<T>) << m << " x " << n;
    }
  }
}

TEST(MatrixBatches, LowerTimesOrthogonalIsTheMatrix) {
  for (const int64_t count : {1, 2, 5, 16, 19}) {
    for (const int64_t n : kSizes) {
      for (const int64_t m : {int64_t{1}, (n + 1) / 2, n}) {
        expect_lapacks_lq<float>(m, n, count);
        expect_lapacks_lq<double>(m, n, count);
      }
    }
  }
}

// Matrices of one value at a time: no row, one number in a row, numbers whose squares are none.
template <class T>
void expect_lapacks_lq_of_special_numbers() {
  using Limits = std::numeric_limits<T>;
  const T least = Limits::denorm_min(), tiny = Limits::min(), huge = Limits::max() / 16;
  const std::vector<std::vector<T>> matrices = {
      {0, 0, 0, 0},         {1, 0, 0, 1},         {-1, 0, 0, -2},       {T(-0.0), 1, 1, 0},
      {0, -1, 2, 0},        {tiny, tiny, 0, 1},   {huge, -huge, 1, 1},  {1, tiny, tiny, -1},
      {least, 0, 0, least}, {-1, -tiny, 3, huge}, {huge, tiny, 0, tiny}};
  for (const std::vector<T>& a : matrices) {
    const Lq<T> mine = lq_of<T>(2, 2, 1, 1, a), lapacks = lapacks_lq<T>(2, 2, 1, a);
    for (std::size_t e = 0; e < 4; ++e) {
      EXPECT_NEAR(mine.q[e], lapacks.q[e], 4 * Limits::epsilon())
          << a[0] << ' ' << a[1] << ' ' << e;
      const T row = std::max(std::abs(a[e / 2 * 2]), std::abs(a[e / 2 * 2 + 1]));
      EXPECT_NEAR(mine.l[e], lapacks.l[e], std::max<T>(4 * Limits::epsilon() * row, 2 * least))
          << a[0] << ' ' << a[1] << ' ' << e;
    }
  }
}

TEST(MatrixBatches, LowerFactorsOfSpecialNumbersAreLapacks) {
  expect_lapacks_lq_of_special_numbers<float>();
  expect_lapacks_lq_of_special_numbers<double>();
}

// A matrix that is not finite is its own matter.
template <class T>
void expect_lq_without_neighbours(int64_t n) {
  constexpr int64_t kCount = 19;
  std::mt19937_64 random(kSeed);
  std::vector<T> a = numbers<T>(kCount * n * n, random);
  a[static_cast<std::size_t>(4 * n * n)] = std::numeric_limits<T>::quiet_NaN();
  a[static_cast<std::size_t>(7 * n * n)] = std::numeric_limits<T>::infinity();
  const Lq<T> all = lq_of(n, n, kCount, kCount, a);
  for (int64_t i = 0; i < kCount; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(i * n * n), last = first + n * n;
    const Lq<T> one = lq_of(n, n, 1, kCount, std::vector<T>(a.begin() + first, a.begin() + last));
    if (i == 4 || i == 7) {
      EXPECT_TRUE(std::any_of(one.l.begin(), one.l.end(), [](T x) { return std::isnan(x); }) ||
                  n == 1);
      continue;
    }
    EXPECT_EQ(one.q, std::vector<T>(all.q.begin() + first, all.q.begin() + last)) << n;
    EXPECT_EQ(one.l, std::vector<T>(all.l.begin() + first, all.l.begin() + last)) << n;
  }
}

TEST(MatrixBatches, LowerFactorsDependOnNoNeighbours) {
  for (const int64_t n : kSizes) {
    expect_lq_without_neighbours<float>(n);
    expect_lq_without_neighbours<double>(n);
  }
}

}  // namespace
}  // namespace mxnet
