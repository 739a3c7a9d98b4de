// SPDX-License-Identifier: Apache-2.0
// Products of digits are those of the plain triple loop with a small error, the same bits by the
// unit for bytes as by loops, for any sizes, strides and ranges of columns.
#include "op/products/digit_products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "op/products/bfloat16_tiles.h"

namespace mxnet {
namespace {

using By = MultipliedBy;
constexpr int64_t kTile = kLinesOfTile;

constexpr unsigned kSeed = 20261124;

struct Packed {
  explicit Packed(int64_t bytes)
      : data(static_cast<int8_t*>(
            ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{64}))) {
    std::fill_n(data, bytes, int8_t{99});  // what is read without being written shows
  }
  ~Packed() { ::operator delete (data, std::align_val_t{64}); }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  int8_t* data;
};

// What kernels take as they run.
class Memory final : public KernelResources {
 public:
  void* workspace(std::size_t bytes) override {
    taken_.push_back(std::make_unique<Packed>(static_cast<int64_t>(bytes)));
    return taken_.back()->data;
  }
  Tensor make_out(int, const Shape&) override { return {}; }

 private:
  std::vector<std::unique_ptr<Packed>> taken_;
};

std::vector<float> normal(std::mt19937& random, int64_t count) {
  std::normal_distribution<float> distribution;
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = distribution(random);
  return numbers;
}

const float& at(const Lines& lines, int64_t line, int64_t i) {
  return lines.data[line * lines.line + i * lines.step];
}

// Unit or, where there is none, loops twice: what is compared is then the loops with themselves,
// and everything around them is tested all the same.
By unit() { return matrix_unit::available() ? By::kUnit : By::kLoops; }

double largest_in(const Lines& lines, int64_t line, int64_t k) {
  double most = 0;
  for (int64_t i = 0; i < k; ++i) most = std::max(most, std::abs(double{at(lines, line, i)}));
  return most;
}

TEST(DigitProducts, AreThoseOfTheLoop) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 60; ++round) {
    const int64_t m = 1 + below(70), n = 1 + below(150), k = 1 + below(900), ldc = n + below(3);
    const auto a = normal(random, m * k), b = normal(random, n * k);
    const Lines left = round % 2 == 0 ? Lines{a.data(), k, 1} : Lines{a.data(), 1, m};
    const Lines right = round % 3 == 0 ? Lines{b.data(), 1, n} : Lines{b.data(), k, 1};
    Packed packed_left(DigitProducts::packed_bytes(m, k));
    Packed packed_right(DigitProducts::packed_bytes(n, k));
    const int64_t middle = std::min(n, below(n) / kTile * kTile + kTile);
    DigitProducts::pack_left(left, m, k, 0, m, packed_left.data);
    DigitProducts::pack_right(right, n, k, 0, middle == n ? n : middle, packed_right.data);
    if (middle < n) DigitProducts::pack_right(right, n, k, middle, n, packed_right.data);
    const bool add = round % 2 == 1;
    const int64_t first = below(n) / kTile * kTile;
    const int64_t last = std::min(n, first + (1 + below(6)) * kTile);
    const auto before = normal(random, m * ldc);
    auto c = before, by_loops = before;
    DigitProducts::multiply(unit(), m, n, k, packed_left.data, packed_right.data, c.data(), ldc,
                            add, first, last);
    DigitProducts::multiply(By::kLoops, m, n, k, packed_left.data, packed_right.data,
                            by_loops.data(), ldc, add, first, last);
    EXPECT_EQ(c, by_loops);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < ldc; ++j) {
        const auto place = static_cast<std::size_t>(i * ldc + j);
        if (j < first || j >= last) {
          ASSERT_EQ(c[place], before[place]);
          continue;
        }
        double want = add ? double{before[place]} : 0;
        for (int64_t q = 0; q < k; ++q) want += double{at(left, i, q)} * double{at(right, j, q)};
        // What is left out of a product of the largest numbers, k times in any direction, and the
        // rounding of the sum.
        const double most = largest_in(left, i, k) * largest_in(right, j, k);
        ASSERT_NEAR(c[place], want,
                    most * std::sqrt(static_cast<double>(k)) * 0x1p-22 + std::abs(want) * 0x1p-22)
            << m << " " << n << " " << k << " at " << i << ", " << j;
      }
    }
  }
}

TEST(DigitProducts, ErrLessThanAChainOfAdditionsInFloat) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  constexpr int64_t kLines = 64, k = 512;
  const auto a = normal(random, kLines * k), b = normal(random, kLines * k);
  Packed left(DigitProducts::packed_bytes(kLines, k)),
      right(DigitProducts::packed_bytes(kLines, k));
  DigitProducts::pack_left({a.data(), k, 1}, kLines, k, 0, kLines, left.data);
  DigitProducts::pack_right({b.data(), k, 1}, kLines, k, 0, kLines, right.data);
  std::vector<float> c(kLines * kLines);
  DigitProducts::multiply(unit(), kLines, kLines, k, left.data, right.data, c.data(), kLines, false,
                          0, kLines);
  double squares = 0, chain_squares = 0;
  for (std::size_t i = 0; i < kLines; ++i) {
    for (std::size_t j = 0; j < kLines; ++j) {
      double exact = 0;
      float chain = 0;
      for (std::size_t q = 0; q < k; ++q) {
        exact += double{a[i * k + q]} * double{b[j * k + q]};
        chain = std::fma(a[i * k + q], b[j * k + q], chain);
      }
      squares += std::pow(c[i * kLines + j] - exact, 2);
      chain_squares += std::pow(double{chain} - exact, 2);
    }
  }
  EXPECT_LT(squares, chain_squares);
}

// The largest and the smallest numbers, zeros, and what rounding makes of the largest one.
TEST(DigitProducts, TakeNumbersOfAnySize) {
  constexpr int64_t k = 70;
  for (const float size : {1.0F, 2.5e38F, 1e-30F, 1e-37F, 1e-42F, 0.0F, 8355000.0F, 1 / 3.0F}) {
    std::vector<float> a(k, size), b(k, 0.0F);
    a[3] = -size;
    b[1] = 0.25F;
    b[3] = 0.5F;
    b[64] = -1;
    Packed left(DigitProducts::packed_bytes(1, k)), right(DigitProducts::packed_bytes(1, k));
    DigitProducts::pack_left({a.data(), k, 1}, 1, k, 0, 1, left.data);
    DigitProducts::pack_right({b.data(), k, 1}, 1, k, 0, 1, right.data);
    float c = 7;
    DigitProducts::multiply(unit(), 1, 1, k, left.data, right.data, &c, 1, false, 0, 1);
    // Lines all of whose numbers are below 2^-100 lose those below 2^-123.
    const double lost = size < 0x1p-100F ? 0x1p-122 : 0;
    EXPECT_NEAR(c, -1.25 * double{size}, 1.25 * double{size} * 0x1p-21 + lost) << size;
  }
}

TEST(DigitProducts, OfPartsAreThoseOfWholeLines) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  constexpr int64_t m = 21, n = 40, k = 150;
  auto a = normal(random, m * k);
  const auto b = normal(random, n * k);
  for (int64_t line = 0; line < m; ++line) a[static_cast<std::size_t>(line * k)] = 8;  // largest
  Packed whole(DigitProducts::packed_bytes(m, k)), parts(DigitProducts::packed_bytes(m, k));
  Packed right(DigitProducts::packed_bytes(n, k));
  DigitProducts::pack_left({a.data(), k, 1}, m, k, 0, m, whole.data);
  DigitProducts::start_left(m, k, 8, parts.data);
  for (int64_t line = 0; line < m; ++line) {
    const float* from = a.data() + line * k;
    for (int64_t first = 0; first < k; first += 32)
      DigitProducts::pack_part(from, line, k, first, std::min(k, first + 32), 8, parts.data);
  }
  DigitProducts::pack_right({b.data(), k, 1}, n, k, 0, n, right.data);
  std::vector<float> c(m * n), of_parts(m * n);
  DigitProducts::multiply(unit(), m, n, k, whole.data, right.data, c.data(), n, false, 0, n);
  DigitProducts::multiply(unit(), m, n, k, parts.data, right.data, of_parts.data(), n, false, 0, n);
  EXPECT_EQ(c, of_parts);
}

// Lines of either direction, and of what they are not packed.
TEST(DigitProducts, SuitNumbersOfAboutOneSize) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  constexpr int64_t kLines = 300, k = 400;
  constexpr auto kInfinity = std::numeric_limits<float>::infinity();
  const auto usual = normal(random, kLines * k);
  for (const bool beside : {false, true}) {
    auto numbers = usual;
    const Lines lines = beside ? Lines{numbers.data(), 1, kLines} : Lines{numbers.data(), k, 1};
    const auto place = [&](int64_t line, int64_t i) -> float& {
      return numbers[static_cast<std::size_t>(line * lines.line + i * lines.step)];
    };
    const auto suit = [&] {
      for (const bool right : {false, true}) {
        Memory resources;
        const KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
        const int8_t* packed = DigitProducts::pack_suitable(lines, kLines, k, right, context);
        if (packed == nullptr) return false;
      }
      return true;
    };
    EXPECT_TRUE(suit());
    for (int64_t i = 0; i < k; ++i) place(7, i) = 0;
    EXPECT_TRUE(suit());
    place(7, 399) = 1e-30F;  // its square is zero
    EXPECT_FALSE(suit());
    place(7, 399) = 1;  // twenty times the root of the mean square
    EXPECT_FALSE(suit());
    place(7, 399) = 0;
    for (const float number : {kInfinity, -kInfinity, std::nanf(""), 1e25F, 100.0F}) {
      const float before = place(299, 0);
      place(299, 0) = number;
      EXPECT_FALSE(suit()) << number;
      place(299, 0) = before;
    }
    EXPECT_TRUE(suit());
  }
}

// Small multiples of 1/8 are bfloat16, and their sums exact.
TEST(Bfloat16Tiles, AreThoseOfTheLoop) {
  SCOPED_TRACE(kSeed);
  const By by = Bfloat16Tiles::available() ? By::kUnit : By::kLoops;
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<int> eighths(-8, 8);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  const auto numbers = [&](int64_t count) {
    std::vector<float> made(static_cast<std::size_t>(count));
    for (float& number : made) number = static_cast<float>(eighths(random)) / 8;
    return made;
  };
  for (int round = 0; round < 60; ++round) {
    const int64_t m = 1 + below(70), n = 1 + below(150), k = 1 + below(900), ldc = n + below(3);
    const auto a = numbers(m * k), b = numbers(n * k);
    const Lines left = round % 2 == 0 ? Lines{a.data(), k, 1} : Lines{a.data(), 1, m};
    const Lines right = round % 3 == 0 ? Lines{b.data(), 1, n} : Lines{b.data(), k, 1};
    Packed packed_left(Bfloat16Tiles::packed_bytes(m, k));
    Packed packed_right(Bfloat16Tiles::packed_bytes(n, k));
    if (round % 4 == 0) {  // in parts
      Bfloat16Tiles::clear(m, k, packed_left.data);
      for (int64_t line = 0; line < m; ++line) {
        for (int64_t i = 0; i < k; i += 20)
          Bfloat16Tiles::pack_part(a.data() + line * k, line, k, i, std::min(k, i + 20),
                                   packed_left.data);
      }
    } else {
      Bfloat16Tiles::pack_left(left, m, k, 0, m, packed_left.data);
    }
    if (right.step == 1) {  // as weights are
      const std::vector<bfloat16> narrow(b.begin(), b.end());
      Bfloat16Tiles::pack_right(narrow.data(), n, k, 0, n, packed_right.data);
    } else {
      Bfloat16Tiles::pack_right(right, n, k, 0, n, packed_right.data);
    }
    const bool add = round % 2 == 1;
    const int64_t first = below(n) / kTile * kTile;
    const int64_t last = std::min(n, first + (1 + below(6)) * kTile);
    std::vector<float> c(static_cast<std::size_t>(m * ldc), 3.0F), by_loops = c;
    Bfloat16Tiles::multiply(by, m, n, k, packed_left.data, packed_right.data, c.data(), ldc, add,
                            first, last);
    Bfloat16Tiles::multiply(By::kLoops, m, n, k, packed_left.data, packed_right.data,
                            by_loops.data(), ldc, add, first, last);
    EXPECT_EQ(c, by_loops);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < ldc; ++j) {
        const bool inside = j >= first && j < last;
        float want = inside && !add ? 0.0F : 3.0F;
        for (int64_t q = 0; q < k && inside; ++q) want += at(left, i, q) * at(right, j, q);
        ASSERT_EQ(c[static_cast<std::size_t>(i * ldc + j)], want)
            << m << " " << n << " " << k << " at " << i << ", " << j;
      }
    }
  }
}

}  // namespace
}  // namespace mxnet
