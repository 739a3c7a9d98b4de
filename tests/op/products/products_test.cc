// SPDX-License-Identifier: Apache-2.0
// Products of matrices against sums written out: any side transposed, odd sizes, parts of larger
// matrices, factors, integers that wrap, vectors so long that threads share them, and products of
// floating numbers of the sizes for which some processors pack one factor.
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <random>
#include <type_traits>
#include <vector>

#include "op/products/blas.h"
#include "op/products/products.h"

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
      const int64_t zero = 0;
      multiply(Products<T>{transpose_a,
                           transpose_b,
                           m,
                           n,
                           k,
                           a.data(),
                           lda,
                           b.data(),
                           ldb,
                           c.data(),
                           ldc,
                           alpha,
                           beta,
                           {&zero, 1},
                           {&zero, 1},
                           {&zero, 1}});
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

TEST(IntegerProducts, AreSumsModuloTheType) {
  expect_products<uint32_t>();
  expect_products<uint64_t>();
}

template <class T>
void expect_large_products() {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{131, 77, 130},
                                {45, 301, 255},
                                {32, 70, 513},
                                {300, 33, 200},
                                {31, 260, 140},
                                {700, 5, 300}}) {
    expect_product<T>(m, n, k, 1, 0);
    expect_product<T>(m, n, k, 1, 1);
    expect_product<T>(m, n, k, 2, 1);
  }
}

// With a vector memory is what counts: packing would cost as much as all else.
template <class T>
void expect_vectors_to_be_of_blas() {
  constexpr int64_t kRows = 4000, kDepth = 2048 / sizeof(T);
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<T> number(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(kRows * kDepth)), b(static_cast<std::size_t>(kDepth));
  for (auto* all : {&a, &b})
    for (T& x : *all) x = number(random);
  std::vector<T> c(static_cast<std::size_t>(kRows)), want(c.size());
  blas::gemm(false, false, kRows, 1, kDepth, T{1}, a.data(), kDepth, b.data(), 1, T{0}, want.data(),
             1);
  const int64_t zero = 0;
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  multiply(Products<T>{false,
                       false,
                       kRows,
                       1,
                       kDepth,
                       a.data(),
                       kDepth,
                       b.data(),
                       1,
                       c.data(),
                       1,
                       T{1},
                       T{0},
                       {&zero, 1},
                       {&zero, 1},
                       {&zero, 1}});
  omp_set_num_threads(before);
  EXPECT_EQ(c, want);  // digits tell: sums of other parts end in others
}

TEST(FloatingProducts, WithVectorsAreThoseOfBlas) {
  expect_vectors_to_be_of_blas<float>();
  expect_vectors_to_be_of_blas<double>();
}

TEST(FloatingProducts, AreSums) {
  expect_large_products<float>();
  expect_large_products<double>();
}

}  // namespace
}  // namespace mxnet
