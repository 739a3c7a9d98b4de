// SPDX-License-Identifier: Apache-2.0
// Products of matrices against sums written out: any side transposed, odd sizes, parts of larger
// matrices, factors, integers that wrap, vectors so long that threads share them, and products of
// floating numbers of the sizes for which some processors pack one factor.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "op/products/blas.h"
#include "op/products/matrix_vector.h"
#include "op/products/packed_gemm.h"
#include "op/products/products.h"
#include "op/products/unpacked_gemm.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20240611;

template <class T>
std::vector<T> numbers(int64_t count, std::mt19937_64& random) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (T& x : all) {
    if constexpr (std::is_floating_point_v<T>)
      x = static_cast<T>(random() % 9) - T{4};  // sums are exact
    else
      x = static_cast<T>(random());  // all bits: products wrap
  }
  return all;
}

// One of two matrices.
template <class T>
Products<T> product_of(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                       const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc,
                       T alpha = 1, T beta = 0) {
  static constexpr int64_t kStart[] = {0};
  return {transpose_a, transpose_b, m,   n,     k,    a,      lda,    b,
          ldb,         c,           ldc, alpha, beta, kStart, kStart, kStart};
}

template <class T>
void expect_product(int64_t m, int64_t n, int64_t k, T alpha, T beta) {
  std::mt19937_64 random(kSeed);
  constexpr int64_t kMore = 3;  // between the ends of rows and the next ones
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const int64_t lda = (transpose_a ? m : k) + kMore, ldb = (transpose_b ? k : n) + kMore;
      const int64_t ldc = n + kMore;
      const auto a = numbers<T>((transpose_a ? k : m) * lda, random);
      const auto b = numbers<T>((transpose_b ? n : k) * ldb, random);
      const auto before = numbers<T>(m * ldc, random);
      auto c = before;
      multiply(product_of(transpose_a, transpose_b, m, n, k, a.data(), lda, b.data(), ldb, c.data(),
                          ldc, alpha, beta));
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < ldc; ++column) {
          const auto at = static_cast<std::size_t>(row * ldc + column);
          T want = before[at];
          if (column < n) {
            T sum = 0;
            for (int64_t l = 0; l < k; ++l)
              sum += a[static_cast<std::size_t>(transpose_a ? l * lda + row : row * lda + l)] *
                     b[static_cast<std::size_t>(transpose_b ? column * ldb + l : l * ldb + column)];
            want = alpha * sum + beta * want;
          }
          ASSERT_EQ(c[at], want) << m << " x " << n << " x " << k << " at " << row << ", " << column
                                 << (transpose_a ? ", left transposed" : "")
                                 << (transpose_b ? ", right transposed" : "");
        }
      }
    }
  }
}

template <class T>
void expect_products() {
  for (const int64_t m : {1, 2, 17})
    for (const int64_t n : {1, 5, 67})
      for (const int64_t k : {1, 3, 64, 131}) {
        expect_product<T>(m, n, k, 1, 0);
        expect_product<T>(m, n, k, static_cast<T>(-3), 2);
      }
  expect_product<T>(1, 1, (1 << 17) + 77, 1, 0);
  expect_product<T>(1, 1, (1 << 17) + 77, 5, static_cast<T>(-1));
}

// Few numbers of so much depth that threads share it.
template <class T>
void expect_deep_products() {
  for (const auto& [m, n] : {std::array<int64_t, 2>{1, 10}, {11, 1}, {3, 5}, {24, 16}}) {
    expect_product<T>(m, n, 3 * 4096 + 5, 1, 0);
    expect_product<T>(m, n, 2 * 4096, static_cast<T>(-3), 2);
  }
}

TEST(IntegerProducts, AreSumsModuloTheType) {
  expect_products<uint32_t>();
  expect_products<uint64_t>();
  expect_deep_products<uint32_t>();
}

// Around vectors, strips of some vectors and parts of the depth.
template <class T>
void expect_tiles() {
  for (const int64_t m : {1, 3, 4, 9})
    for (const int64_t n : {7, 8, 9, 15, 16, 17, 31, 33, 64, 79})
      for (const int64_t k : {0, 1, 255, 256, 257, 600}) {
        expect_product<T>(m, n, k, 1, 0);
        expect_product<T>(m, n, k, 5, static_cast<T>(-1));
      }
}

TEST(IntegerProducts, AreMadeOfTiles) {
  expect_tiles<uint32_t>();
  expect_tiles<uint64_t>();
}

template <class T>
void expect_large_products() {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{131, 77, 130},
                                {45, 301, 255},
                                {32, 70, 513},
                                {300, 33, 200},
                                {31, 260, 140},
                                {700, 5, 300},
                                {1, 1501, 320}}) {
    expect_product<T>(m, n, k, 1, 0);
    expect_product<T>(m, n, k, 1, 1);
    expect_product<T>(m, n, k, 2, 1);
  }
}

// y = a x by the loops that a product with a vector is to be made of, the rows from the last one
// on.
template <class T>
void multiply_rows(int64_t rows, int64_t depth, const T* a, const T* x, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr int64_t kFew = 5;
    if (gains_by_vector() && depth % 32 == 0) {
      for (int64_t r = rows - kFew; r > -kFew; r -= kFew) {
        const int64_t at = std::max<int64_t>(r, 0);
        multiply_by_vector(kFew, depth, a + at * depth, depth, x, y + at);
      }
      return;
    }
  }
  blas::gemm(false, false, rows, 1, depth, T{1}, a, depth, x, 1, T{0}, y, 1);
}

// With a vector memory is what counts: packing would cost as much as all else. `column`: the vector
// is the right factor. Each row's sum is the same beside any others.
template <class T>
void expect_vectors_to_meet_rows(int64_t depth, bool column) {
  constexpr int64_t kRows = 4003;
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> number(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(kRows * depth)), b(static_cast<std::size_t>(depth));
  for (auto* all : {&a, &b})
    for (T& x : *all) x = number(random);
  std::vector<T> c(static_cast<std::size_t>(kRows)), want(c.size());
  multiply_rows<T>(kRows, depth, a.data(), b.data(), want.data());
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const T *left = column ? a.data() : b.data(), *right = column ? b.data() : a.data();
  const auto product =
      product_of(false, !column, column ? kRows : 1, column ? 1 : kRows, depth, left, depth, right,
                 column ? 1 : depth, c.data(), column ? 1 : kRows);
  for (int again = 0; again < 2; ++again) {
    c.assign(c.size(), T{7});
    multiply(product);
    EXPECT_EQ(c, want);  // digits tell: sums of other parts end in others
  }
  omp_set_num_threads(before);
  for (int64_t r = 0; r < kRows; r += 667) {
    double sum = 0;
    for (int64_t i = 0; i < depth; ++i)
      sum += double{a[static_cast<std::size_t>(r * depth + i)]} * b[static_cast<std::size_t>(i)];
    EXPECT_NEAR(c[static_cast<std::size_t>(r)], sum, 1e-5);
  }
}

TEST(FloatingProducts, WithVectorsAreThoseOfRows) {
  for (const bool column : {false, true}) {
    for (const int64_t depth : {512, 517}) expect_vectors_to_meet_rows<float>(depth, column);
    expect_vectors_to_meet_rows<double>(256, column);
  }
}

// A thread's part of a few long rows, too: those of up to 24 are summed in stretches.
TEST(FloatingProducts, WithVectorsOfFewRowsAreTheSameOnAnyThreads) {
  constexpr int64_t kDepth = int64_t{1} << 15;
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<float> number(-1, 1);
  const int before = omp_get_max_threads();
  for (const int64_t rows : {25, 26, 30}) {
    std::vector<float> a(static_cast<std::size_t>(rows * kDepth)), x(kDepth);
    for (auto* all : {&a, &x})
      for (float& value : *all) value = number(random);
    std::vector<float> alone(static_cast<std::size_t>(rows)), c(alone.size());
    multiply_rows<float>(rows, kDepth, a.data(), x.data(), alone.data());
    if (!gains_by_vector()) continue;  // BLAS sums rows by their place
    for (const int threads : {1, 3, 11}) {
      omp_set_num_threads(threads);
      multiply(
          product_of(false, false, rows, 1, kDepth, a.data(), kDepth, x.data(), 1, c.data(), 1));
      EXPECT_EQ(c, alone) << rows << " rows, " << threads << " threads";
    }
  }
  omp_set_num_threads(before);
}

// Numbers whose products are rounded, by any order of the factors: those of one thread, and near
// the sums that doubles make. The sizes are of every way that a product may be made in.
template <class T>
void expect_the_same_on_any_threads(int64_t m, int64_t n, int64_t k) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> number(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  for (auto* all : {&a, &b})
    for (T& x : *all) x = number(random);
  const int before = omp_get_max_threads();
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const int64_t lda = transpose_a ? m : k, ldb = transpose_b ? k : n;
      std::vector<T> alone, c(static_cast<std::size_t>(m * n));
      for (const int threads : {1, 2, 3}) {
        omp_set_num_threads(threads);
        multiply(product_of(transpose_a, transpose_b, m, n, k, a.data(), lda, b.data(), ldb,
                            c.data(), n));
        if (alone.empty()) alone = c;
        EXPECT_EQ(c, alone) << m << " x " << n << " x " << k << ", " << threads << " threads";
      }
      for (int64_t i = 0; i < m * n; i += 97) {
        double sum = 0, size = 0;
        for (int64_t l = 0; l < k; ++l) {
          const double term =
              double{a[static_cast<std::size_t>(transpose_a ? l * lda + i / n : i / n * lda + l)]} *
              b[static_cast<std::size_t>(transpose_b ? i % n * ldb + l : l * ldb + i % n)];
          sum += term;
          size += std::abs(term);
        }
        // A chain of k additions could end k / 4 times as far away.
        EXPECT_NEAR(c[static_cast<std::size_t>(i)], sum,
                    4 * size * static_cast<double>(std::numeric_limits<T>::epsilon()));
      }
    }
  }
  omp_set_num_threads(before);
}

TEST(FloatingProducts, AreTheSameOnAnyThreads) {
  if (!unpacked_gemm::gains()) GTEST_SKIP() << "BLAS sums rows by their place";
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{131, 77, 130},
                                {45, 301, 255},
                                {200, 192, 1024},
                                {5, 1000, 260},
                                {70, 1100, 700},
                                {260, 200, 700}}) {
    expect_the_same_on_any_threads<float>(m, n, k);
    expect_the_same_on_any_threads<double>(m, n, k);
  }
}

TEST(FloatingProducts, OfMuchDepthAreTheSameOnAnyThreads) {
  for (const auto& [m, n] : {std::array<int64_t, 2>{1, 10}, {8, 8}, {17, 3}}) {
    expect_the_same_on_any_threads<float>(m, n, 30011);
    expect_the_same_on_any_threads<double>(m, n, 30011);
  }
}

TEST(FloatingProducts, AreSums) {
  expect_large_products<float>();
  expect_large_products<double>();
  expect_deep_products<float>();
  expect_deep_products<double>();
}

// Batches of vectors and a few rows, around the sizes that have loops of their own; matrices are
// parts of larger ones, with infinities between them, and so are those of the result.
template <class T>
void expect_batch(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, int64_t more,
                  T alpha) {
  constexpr int64_t kCount = 5, kStart[] = {0};
  std::mt19937_64 random(kSeed);
  const int64_t lda = (transpose_a ? m : k) + more, ldb = (transpose_b ? k : n) + more;
  const int64_t ldc = n + more, rows_a = transpose_a ? k : m, rows_b = transpose_b ? n : k;
  const int64_t step_a = rows_a * lda + more, step_b = rows_b * ldb, step_c = m * ldc + more;
  const auto matrices = [&](int64_t rows, int64_t columns, int64_t row, int64_t step) {
    std::vector<T> all(static_cast<std::size_t>(kCount * step), std::numeric_limits<T>::infinity());
    for (int64_t i = 0; i < kCount; ++i)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          all[static_cast<std::size_t>(i * step + r * row + c)] =
              static_cast<T>(static_cast<int>(random() % 9) - 4);
    return all;
  };
  const auto a = matrices(rows_a, lda - more, lda, step_a),
             b = matrices(rows_b, ldb - more, ldb, step_b);
  std::vector<T> c(static_cast<std::size_t>(kCount * step_c), T{-7});
  multiply(Products<T>{transpose_a, transpose_b, m,        n,      k,      a.data(), lda,
                       b.data(),    ldb,         c.data(), ldc,    alpha,  T{0},     kStart,
                       kStart,      kStart,      kCount,   step_a, step_b, step_c});
  for (int64_t i = 0; i < kCount; ++i) {
    for (int64_t at = 0; at < step_c; ++at) {
      const int64_t row = at / ldc, column = at % ldc;
      T want{-7};
      if (row < m && column < n) {
        want = 0;
        for (int64_t l = 0; l < k; ++l)
          want += a[static_cast<std::size_t>(i * step_a +
                                             (transpose_a ? l * lda + row : row * lda + l))] *
                  b[static_cast<std::size_t>(i * step_b +
                                             (transpose_b ? column * ldb + l : l * ldb + column))];
        want *= alpha;
      }
      ASSERT_EQ(c[static_cast<std::size_t>(i * step_c + at)], want)
          << m << " x " << n << " x " << k << ", " << more << " between, at " << row << ", "
          << column << " of " << i << (transpose_a ? ", left transposed" : "")
          << (transpose_b ? ", right transposed" : "");
    }
  }
}

template <class T>
void expect_batches_of_vectors() {
  for (const auto& [m, n] : {std::array<int64_t, 2>{1, 1},
                             {1, 2},
                             {1, 5},
                             {1, 16},
                             {1, 17},
                             {1, 31},
                             {1, 32},
                             {1, 33},
                             {2, 1},
                             {7, 1},
                             {16, 1},
                             {17, 1},
                             {32, 1},
                             {33, 1},
                             {2, 17},
                             {3, 9},
                             {4, 32},
                             {5, 32},
                             {4, 33}})
    for (const int64_t k : {1, 2, 7, 8, 9, 16, 17, 31, 32, 33})
      for (const int64_t more : {0, 1})
        for (const int sides : {0, 1, 2, 3})
          expect_batch<T>(sides % 2 != 0, sides / 2 != 0, m, n, k, more, more == 0 ? T{1} : T{-2});
}

TEST(SmallBatches, OfVectorsAndFewRowsAreSums) {
  expect_batches_of_vectors<float>();
  expect_batches_of_vectors<double>();
}

}  // namespace
}  // namespace mxnet
