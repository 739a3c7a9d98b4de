// SPDX-License-Identifier: Apache-2.0
// Packed products are those of the plain triple loop, for any sizes, strides and ranges of columns.
#include "op/products/packed_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <random>
#include <vector>

#include "op/products/packed_bfloat16.h"

namespace mxnet {
namespace {

using packed_gemm::View;

constexpr unsigned kSeed = 20261120;

// Small multiples of 1/8: products and sums are exact, whatever their order.
template <class T>
std::vector<T> numbers(std::mt19937& random, int64_t count) {
  std::uniform_int_distribution<int> eighths(-8, 8);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(eighths(random)) / 8;
  return values;
}

template <class T>
struct Packed {
  explicit Packed(int64_t count)
      : data(static_cast<T*>(::operator new (static_cast<std::size_t>(count + 1) * sizeof(T),
                                             std::align_val_t{64}))) {}
  ~Packed() { ::operator delete (data, std::align_val_t{64}); }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  T* data;
};

template <class T>
class PackedGemm : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PackedGemm, Types);

template <class T>
T sum_of_products(const View<T>& a, const View<T>& b, int64_t i, int64_t j, int64_t k) {
  T sum = 0;
  for (int64_t q = 0; q < k; ++q)
    sum += a.data[i * a.row + q * a.column] * b.data[q * b.row + j * b.column];
  return sum;
}

// Of c, which held 3 before: rows of n products, `ldc` apart, and nothing behind them.
template <class T>
void expect_products(const View<T>& a, const View<T>& b, int64_t m, int64_t n, int64_t k,
                     const std::vector<T>& c, int64_t ldc, bool add) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < ldc; ++j) {
      const T want = j >= n ? T{3} : sum_of_products(a, b, i, j, k) + (add ? T{3} : T{0});
      ASSERT_EQ(c[static_cast<std::size_t>(i * ldc + j)], want)
          << "m " << m << " n " << n << " k " << k << " at " << i << ", " << j;
    }
  }
}

TYPED_TEST(PackedGemm, IsTheSumOfProducts) {
  using T = TypeParam;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 120; ++round) {
    const int64_t m = 1 + below(90), n = 1 + below(200), k = below(600), ldc = n + below(3);
    const bool turn_a = below(2) == 1, turn_b = below(2) == 1, add = below(2) == 1;
    const auto a_values = numbers<T>(random, m * k), b_values = numbers<T>(random, k * n);
    const View<T> a{a_values.data(), turn_a ? 1 : k, turn_a ? m : 1};
    const View<T> b{b_values.data(), turn_b ? 1 : n, turn_b ? k : 1};
    Packed<T> packed(packed_gemm::packed_size<T>(k, n));
    packed_gemm::pack(b, k, n, 0, n, packed.data);
    std::vector<T> c(static_cast<std::size_t>(m * ldc), T{3});
    packed_gemm::multiply(m, n, k, a, packed.data, c.data(), ldc, add, 0, n);
    expect_products(a, b, m, n, k, c, ldc, add);
  }
}

// So that however many threads share the rows, numbers are the same.
TYPED_TEST(PackedGemm, HowManyRowsThereAreDecidesAboutNoDigit) {
  using T = TypeParam;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::normal_distribution<double> normal;
  const int64_t m = 80, n = packed_gemm::panel_columns<T>() + 3;
  for (const int64_t k : {200, 512, 640, 1030, 2048}) {
    std::vector<T> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
    for (auto* values : {&a, &b}) {
      for (T& value : *values) value = static_cast<T>(normal(random));
    }
    Packed<T> packed(packed_gemm::packed_size<T>(k, n));
    packed_gemm::pack<T>({b.data(), n, 1}, k, n, 0, n, packed.data);
    const auto in_parts_of = [&](int64_t rows, bool add) {
      std::vector<T> c(static_cast<std::size_t>(m * n), T{3});
      for (int64_t r = 0; r < m; r += rows)
        packed_gemm::multiply<T>(std::min(rows, m - r), n, k, {a.data() + r * k, k, 1}, packed.data,
                                 c.data() + r * n, n, add, 0, n);
      return c;
    };
    for (const bool add : {false, true}) {
      const auto whole = in_parts_of(m, add);
      for (const int64_t rows : {1, 8, 27, 36, 37, 73})
        EXPECT_EQ(in_parts_of(rows, add), whole) << k << " numbers, " << rows << " rows at once";
    }
  }
}

bool has_slices() { return packed_gemm::panel_columns<float>() == 32; }  // AVX-512

TYPED_TEST(PackedGemm, InSlicesIsTheSumOfProducts) {
  using T = TypeParam;
  if (!has_slices()) GTEST_SKIP() << "made for AVX-512";
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 40; ++round) {
    // Rows of one block, of some, and of many columns' slices.
    const int64_t m = 1 + below(round % 2 == 0 ? 96 : 230), n = 1 + below(round == 7 ? 2200 : 160);
    const int64_t k = 1 + below(900), ldc = n + below(3), gap = below(3);
    const bool turn_a = below(2) == 1, turn_b = below(2) == 1, add = below(2) == 1;
    const auto a_values = numbers<T>(random, (m + gap) * (k + gap));
    const auto b_values = numbers<T>(random, (k + gap) * (n + gap));
    const View<T> a{a_values.data(), turn_a ? 1 : k + gap, turn_a ? m + gap : 1};
    const View<T> b{b_values.data(), turn_b ? 1 : n + gap, turn_b ? k + gap : 1};
    std::vector<T> c(static_cast<std::size_t>(m * ldc), T{3});
    packed_gemm::multiply_in_slices<T>(m, n, k, a, b, c.data(), ldc, add);
    expect_products(a, b, m, n, k, c, ldc, add);
  }
}

TYPED_TEST(PackedGemm, InSlicesAPartHasTheDigitsOfTheWhole) {
  using T = TypeParam;
  if (!has_slices()) GTEST_SKIP() << "made for AVX-512";
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::normal_distribution<double> normal;
  const int64_t m = 131, n = 75, k = 1000;
  std::vector<T> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  for (auto* values : {&a, &b}) {
    for (T& value : *values) value = static_cast<T>(normal(random));
  }
  std::vector<T> whole(static_cast<std::size_t>(m * n)), parts(whole);
  packed_gemm::multiply_in_slices<T>(m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, whole.data(), n,
                                     false);
  for (const int64_t rows : {1, 12, 37, 100}) {
    for (const int64_t columns : {5, 32, 64}) {
      for (int64_t r = 0; r < m; r += rows) {
        for (int64_t j = 0; j < n; j += columns)
          packed_gemm::multiply_in_slices<T>(std::min(rows, m - r), std::min(columns, n - j), k,
                                             {a.data() + r * k, k, 1}, {b.data() + j, n, 1},
                                             parts.data() + r * n + j, n, false);
      }
      EXPECT_EQ(parts, whole) << rows << " rows and " << columns << " columns at once";
    }
  }
}

TYPED_TEST(PackedGemm, RangesOfColumnsLeaveTheOthersAlone) {
  using T = TypeParam;
  std::mt19937 random(kSeed);
  const int64_t panel = packed_gemm::panel_columns<T>(), m = 7, n = 3 * panel + 5, k = 11;
  const auto a_values = numbers<T>(random, m * k), b_values = numbers<T>(random, k * n);
  const View<T> a{a_values.data(), k, 1}, b{b_values.data(), n, 1};
  Packed<T> packed(packed_gemm::packed_size<T>(k, n));
  packed_gemm::pack(b, k, n, 2 * panel, n, packed.data);
  packed_gemm::pack(b, k, n, 0, 2 * panel, packed.data);
  std::vector<T> c(static_cast<std::size_t>(m * n), T{3});
  packed_gemm::multiply(m, n, k, a, packed.data, c.data(), n, false, panel, 2 * panel);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const bool inside = j >= panel && j < 2 * panel;
      ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)],
                inside ? sum_of_products(a, b, i, j, k) : T{3});
    }
  }
}

// The right factor comes as its columns, the way weights lie.
TEST(PackedPanels, AreTheSumsOfProductsWhateverIsFetchedMeanwhile) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  const int64_t width = packed_gemm::panel_columns<float>();
  for (int round = 0; round < 120; ++round) {
    const int64_t count = 1 + below(8), k = 1 + below(150), ldc = width + below(3);
    const int64_t m = round % 2 == 0 ? 8 * (1 + below(5)) : 1 + below(40);
    const int64_t a_step = m * k + below(20), c_step = m * ldc + below(20);
    const auto a = numbers<float>(random, count * a_step);
    const auto b = numbers<float>(random, count * k * width);
    const auto later = numbers<float>(random, 1 + below(9000));
    std::vector<float> c(static_cast<std::size_t>(count * c_step), 99);
    std::vector<float> want = c;
    const auto at = [](auto& values, int64_t place) { return values.data() + place; };
    for (int64_t p = 0; p < count; ++p) {
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < width; ++j)
          *at(want, p * c_step + i * ldc + j) = sum_of_products<float>(
              {at(a, p * a_step), k, 1}, {at(b, p * k * width), width, 1}, i, j, k);
      }
    }
    const packed_gemm::Later fetched{later.data(), static_cast<int64_t>(later.size())};
    packed_gemm::multiply_panels(count, m, k, a.data(), a_step, b.data(), b.data(), c.data(),
                                 c_step, ldc, round % 3 == 0 ? packed_gemm::Later{} : fetched);
    ASSERT_EQ(c, want) << count << " panels, " << m << " x " << k;
  }
}

TEST(PackedPanels, OfMoreRowsAreThoseOfEachRow) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::normal_distribution<float> normal;
  const int64_t most = 40, k = 300, row = k + 5, width = packed_gemm::panel_columns<float>();
  std::vector<float> a(static_cast<std::size_t>(most * row)),
      b(static_cast<std::size_t>(k * width));
  for (auto* values : {&a, &b}) {
    for (float& value : *values) value = normal(random);
  }
  const auto products = [&](int64_t m, int64_t together, bool add) {
    std::vector<float> c(static_cast<std::size_t>(m * width), 3);
    for (int64_t r = 0; r < m; r += together)
      packed_gemm::multiply_panel(together, k, a.data() + r * row, row, b.data(), b.data(),
                                  c.data() + r * width, width, add);
    return c;
  };
  for (const bool add : {false, true}) {
    for (int64_t m = 1; m <= most; ++m)
      ASSERT_EQ(products(m, m, add), products(m, 1, add)) << m << " rows";
  }
}

TEST(PackedBfloat16, IsTheSumOfProducts) {
  if (!packed_bfloat16::available()) GTEST_SKIP() << "without AVX512_BF16";
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 120; ++round) {
    const int64_t m = 1 + below(90), n = 1 + below(200), k = 2 * below(round == 0 ? 3000 : 300);
    const int64_t ldc = n + below(3), panel = packed_gemm::panel_columns<float>();
    const int64_t first = below(2) * std::min(n / panel * panel, panel);
    const bool add = below(2) == 1;
    const auto a_values = numbers<float>(random, m * k), b_values = numbers<float>(random, k * n);
    const std::vector<bfloat16> a(a_values.begin(), a_values.end());
    const std::vector<bfloat16> b(b_values.begin(), b_values.end());
    Packed<float> packed(packed_gemm::packed_size<float>(k / 2, n));
    packed_gemm::pack(packed_bfloat16::pairs(b.data(), k), k / 2, n, 0, n, packed.data);
    std::vector<float> c(static_cast<std::size_t>(m * ldc), 3.0f);
    packed_bfloat16::multiply(m, n, k, a.data(), k, packed.data, c.data(), ldc, add, first, n);
    const View<float> left{a_values.data(), k, 1}, right{b_values.data(), 1, k};
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < ldc; ++j) {
        const bool outside = j < first || j >= n;
        const float sum = outside ? 3.0f : sum_of_products(left, right, i, j, k);
        ASSERT_EQ(c[static_cast<std::size_t>(i * ldc + j)], outside || !add ? sum : sum + 3.0f)
            << "m " << m << " n " << n << " k " << k << " at " << i << ", " << j;
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
