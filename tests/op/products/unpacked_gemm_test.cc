// SPDX-License-Identifier: Apache-2.0
// Products of factors that stay where they lie are those of the plain triple loop, for any sizes
// and orders of the factors, and a part of one has the digits of the whole.
#include "op/products/unpacked_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "base/simd.h"

namespace mxnet {
namespace {

using packed_gemm::View;

constexpr unsigned kSeed = 20261129;

template <class T>
class UnpackedGemm : public testing::Test {
 protected:
  void SetUp() override {
    if (simd_level() != 2) GTEST_SKIP() << "made for AVX-512";
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(UnpackedGemm, Types);

TYPED_TEST(UnpackedGemm, IsTheSumOfProducts) {
  using T = TypeParam;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  // Small multiples of 1/8: products and sums are exact, whatever their order.
  const auto numbers = [&](int64_t count) {
    std::vector<T> all(static_cast<std::size_t>(count));
    for (T& x : all) x = static_cast<T>(below(17) - 8) / 8;
    return all;
  };
  constexpr T kAlphas[] = {1, 1, -2, T{0.5}}, kBetas[] = {0, 1, T{0.5}};
  constexpr int64_t kPage = 4096 / sizeof(T);
  for (int round = 0; round < 200; ++round) {
    // Rows of more than one block in some rounds, in others such as lie whole pages apart.
    const int64_t m = 1 + below(round % 8 == 0 ? 600 : 70), n = 1 + below(150);
    const int64_t k = 1 + below(round % 4 == 0 ? 900 : 90), ldc = n + below(3), gap = below(3);
    const bool turn_a = below(2) == 1, turn_b = below(2) == 1;
    const T alpha = kAlphas[below(4)], beta = kBetas[below(3)];
    const int64_t width = (turn_a ? m : k) + gap, ldb = (turn_b ? k : n) + gap;
    const int64_t lda = round % 5 == 0 ? (width + kPage - 1) / kPage * kPage : width;
    const auto a = numbers((turn_a ? k : m) * lda), b = numbers((turn_b ? n : k) * ldb);
    // Nothing is read of a result that has no share, nor written behind its columns.
    const T before = beta == 0 ? std::numeric_limits<T>::quiet_NaN() : T{3};
    std::vector<T> c(static_cast<std::size_t>(m * ldc), T{3});
    for (int64_t i = 0; i < m; ++i) std::fill_n(c.begin() + i * ldc, n, before);
    unpacked_gemm::multiply<T>(m, n, k, {a.data(), turn_a ? 1 : lda, turn_a ? lda : 1},
                               {b.data(), turn_b ? 1 : ldb, turn_b ? ldb : 1}, c.data(), ldc, alpha,
                               beta);
    const auto left = [&](int64_t i, int64_t l) { return a[turn_a ? l * lda + i : i * lda + l]; };
    const auto right = [&](int64_t l, int64_t j) { return b[turn_b ? j * ldb + l : l * ldb + j]; };
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < ldc; ++j) {
        T want = j >= n ? T{3} : beta == 0 ? T{0} : beta * before;
        for (int64_t l = 0; j < n && l < k; ++l) want += alpha * left(i, l) * right(l, j);
        ASSERT_EQ(c[static_cast<std::size_t>(i * ldc + j)], want)
            << m << " x " << n << " x " << k << " at " << i << ", " << j << ", " << alpha << " and "
            << beta << (turn_a ? ", left turned" : "") << (turn_b ? ", right turned" : "");
      }
    }
  }
}

// So that however many threads share it, numbers are the same.
TYPED_TEST(UnpackedGemm, APartHasTheDigitsOfTheWhole) {
  using T = TypeParam;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::normal_distribution<double> normal;
  const int64_t m = 75, n = 71;
  for (const int64_t k : {50, 384, 385, 1000}) {
    std::vector<T> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
    for (auto* values : {&a, &b})
      for (T& value : *values) value = static_cast<T>(normal(random));
    for (const bool add : {false, true}) {
      const auto in_parts_of = [&](int64_t rows, int64_t columns) {
        std::vector<T> c(static_cast<std::size_t>(m * n), T{3});
        for (int64_t r = 0; r < m; r += rows)
          for (int64_t j = 0; j < n; j += columns)
            unpacked_gemm::multiply<T>(std::min(rows, m - r), std::min(columns, n - j), k,
                                       {a.data() + r * k, k, 1}, {b.data() + j, n, 1},
                                       c.data() + r * n + j, n, T{1}, add ? T{1} : T{0});
        return c;
      };
      const auto whole = in_parts_of(m, n);
      for (const int64_t rows : {1, 5, 48})
        for (const int64_t columns : {1, 16, 48, 71})
          EXPECT_EQ(in_parts_of(rows, columns), whole)
              << k << " numbers, " << rows << " x " << columns << " at once";
    }
  }
}

}  // namespace
}  // namespace mxnet
