// SPDX-License-Identifier: Apache-2.0
// That no element is missed or taken twice, around every width and number of rows that the loops
// know: by sums that are exact, and by extremes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/stream_copy.h"
#include "reduce_run.h"

namespace mxnet {
namespace {

// Several are turned at once: blocks of a whole number of them, and what is left.
template <class T, class A>
void expect_sums_of_short_blocks() {
  std::mt19937 random(12);
  std::uniform_int_distribution<int> number(0, 100);
  for (const int64_t width : {2, 3, 4, 5, 16, 31, 32}) {
    for (const int64_t rows : {2, 3, 8, 17, 60, 128}) {
      for (const int64_t blocks : {2, 30, 700}) {
        std::vector<T> x(static_cast<std::size_t>(blocks * rows * width));
        for (T& value : x) value = static_cast<T>(number(random));
        std::vector<A> expected(static_cast<std::size_t>(blocks * width)), greatest = expected;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const auto at = static_cast<int64_t>(i);
          const auto out = static_cast<std::size_t>(at / (rows * width) * width + at % width);
          const A value = static_cast<A>(x[i]);
          expected[out] += value;
          greatest[out] = std::max(greatest[out], value);
        }
        const Shape shape{blocks, rows, width};
        EXPECT_EQ((reduced<T, A>(Reduction::sum, x, shape, axis_set({1}))), expected)
            << blocks << " x " << rows << " x " << width;
        EXPECT_EQ((reduced<T, A>(Reduction::max, x, shape, axis_set({1}))), greatest)
            << blocks << " x " << rows << " x " << width;
      }
    }
  }
}

TEST(Reduce, ShortBlocksAreSummedByThemselves) {
  expect_sums_of_short_blocks<float, double>();
  expect_sums_of_short_blocks<double, double>();
  expect_sums_of_short_blocks<int32_t, int64_t>();
  expect_sums_of_short_blocks<uint8_t, int64_t>();
}

// By numbers that other orders round otherwise, about whole vectors of rows, unaligned; of rows of
// negative zeros, too.
template <class T, class A>
void expect_short_rows_in_order() {
  std::mt19937 random(15);
  std::uniform_int_distribution<int> number(-1000, 1000);
  for (int64_t length = 2; length <= 16; ++length) {
    for (const int64_t rows : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 1500}) {
      const auto size = static_cast<std::size_t>(rows * length);
      std::vector<T> x(size + 1);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::is_floating_point_v<T>
                   ? static_cast<T>(std::ldexp(number(random) / 7.0, static_cast<int>(i % 5) * 20))
                   : static_cast<T>(number(random));
      std::fill_n(x.begin() + 1, length, static_cast<T>(-0.0));
      std::vector<A> expected, out(static_cast<std::size_t>(rows));
      for (int64_t r = 0; r < rows; ++r) {
        A sum(0);
        for (int64_t j = 0; j < length; ++j)
          sum += static_cast<A>(x[static_cast<std::size_t>(1 + r * length + j)]);
        expected.push_back(sum);
      }
      const Shape shape{rows, length};
      reduce<A>(Reduction::sum, {x.data() + 1, &shape, dtype_of<T>},
                ReducePlan(shape, axis_set({1})), [&](int64_t first, const A* values, int64_t n) {
                  std::copy_n(values, n, out.begin() + first);
                });
      EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(A)), 0)
          << rows << " rows of " << length;
    }
  }
}

TEST(Reduce, ShortRowsAreSummedInTheirOrder) {
  expect_short_rows_in_order<float, double>();
  expect_short_rows_in_order<float, float>();
  expect_short_rows_in_order<double, double>();
  expect_short_rows_in_order<int8_t, int64_t>();
  expect_short_rows_in_order<int32_t, int64_t>();
  expect_short_rows_in_order<int64_t, int64_t>();
}

// Of a matrix, along one axis.
std::vector<int64_t> sums_of_bytes(uint8_t* x, DType dtype, const Shape& shape, int axis) {
  std::vector<int64_t> out(static_cast<std::size_t>(shape[1 - axis]));
  reduce<int64_t>(Reduction::sum, {x, &shape, dtype}, ReducePlan(shape, axis_set({axis})),
                  [&](int64_t first, const int64_t* values, int64_t n) {
                    std::copy_n(values, n, out.begin() + first);
                  });
  return out;
}

int64_t with_sign(uint8_t byte) { return byte < 128 ? byte : byte - 256; }

// About the lengths that 16 bits hold, of the greatest bytes; of bool any but 0 counts one, and
// int8 has a sign.
TEST(Reduce, RowsOfBytesOfAnyLengthAreSummedExactly) {
  for (const int64_t length : {15, 16, 17, 31, 32, 33, 64, 255, 256, 257, 258, 300, 5000}) {
    constexpr int64_t kRows = 5;
    std::vector<uint8_t> x(static_cast<std::size_t>(kRows * length + 1), 255);
    for (std::size_t i = 0; i < x.size(); i += 7) x[i] = static_cast<uint8_t>(i % 256);
    std::vector<int64_t> sums(kRows), truths(kRows), with_signs(kRows);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kRows * length); ++i) {
      sums[i / static_cast<std::size_t>(length)] += x[i + 1];
      truths[i / static_cast<std::size_t>(length)] += x[i + 1] != 0;
      with_signs[i / static_cast<std::size_t>(length)] += with_sign(x[i + 1]);
    }
    const Shape shape{kRows, length};
    EXPECT_EQ(sums_of_bytes(x.data() + 1, DType::kUInt8, shape, 1), sums) << length;
    EXPECT_EQ(sums_of_bytes(x.data() + 1, DType::kBool, shape, 1), truths) << length;
    EXPECT_EQ(sums_of_bytes(x.data() + 1, DType::kInt8, shape, 1), with_signs) << length;
  }
}

// About the widths of vectors and the rows that 16 bits hold; many narrow rows lie side by side.
TEST(Reduce, ColumnsOfBytesOfAnyWidthAreSummedExactly) {
  for (const int64_t width : {2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 100, 1000, 1023, 1024, 1100}) {
    for (const int64_t rows : {2, 7, 8, 9, 257, 258, 530, 1025, 70001}) {
      if (rows * width > 3'000'000) continue;
      std::vector<uint8_t> x(static_cast<std::size_t>(rows * width + 1), 255);
      for (std::size_t i = 0; i < x.size(); i += 7) x[i] = static_cast<uint8_t>(i % 256);
      std::vector<int64_t> sums(static_cast<std::size_t>(width)), truths = sums, with_signs = sums;
      for (std::size_t i = 0; i < static_cast<std::size_t>(rows * width); ++i) {
        sums[i % sums.size()] += x[i + 1];
        truths[i % sums.size()] += x[i + 1] != 0;
        with_signs[i % sums.size()] += with_sign(x[i + 1]);
      }
      const Shape shape{rows, width};
      EXPECT_EQ(sums_of_bytes(x.data() + 1, DType::kUInt8, shape, 0), sums)
          << rows << " x " << width;
      EXPECT_EQ(sums_of_bytes(x.data() + 1, DType::kBool, shape, 0), truths)
          << rows << " x " << width;
      EXPECT_EQ(sums_of_bytes(x.data() + 1, DType::kInt8, shape, 0), with_signs)
          << rows << " x " << width;
    }
  }
}

// Wholes of eight rows in a page, more and fewer of them, and what is left beside and below them.
template <class T, class A>
void expect_sums_of_columns() {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> number(-1000, 1000);
  for (const int64_t width : {1, 31, 32, 64, 65, 96, 100, 127, 128, 129, 300, 1031}) {
    for (const int64_t rows : {1, 7, 8, 9, 17, 300}) {
      const auto count = static_cast<std::size_t>(rows * width);
      std::vector<T> x(3 * count);
      for (T& value : x) value = static_cast<T>(number(random));
      std::vector<A> expected(static_cast<std::size_t>(3 * width));
      for (std::size_t i = 0; i < x.size(); ++i)
        expected[i / count * static_cast<std::size_t>(width) +
                 i % count % static_cast<std::size_t>(width)] += static_cast<A>(x[i]);
      EXPECT_EQ((reduced<T, A>(Reduction::sum, x, Shape{3, rows, width}, axis_set({1}))), expected)
          << rows << " rows of " << width;
    }
  }
}

TEST(Reduce, ColumnsOfAnyWidthAreSummedExactly) {
  expect_sums_of_columns<float, double>();
  expect_sums_of_columns<int32_t, int64_t>();
  expect_sums_of_columns<double, double>();
  expect_sums_of_columns<float16, float>();
}

// About the lengths from which a run is read as four streams, whole lines of them and not, and of
// several chunks.
template <class T, class A>
void expect_sums_of_runs() {
  std::mt19937 random(12);
  std::uniform_int_distribution<int> number(-1000, 1000);
  for (const int64_t length : {16383, 16384, 16385, 16471, 65535, 65536, 65537, 131073, 200003}) {
    std::vector<T> x(static_cast<std::size_t>(2 * length));
    std::vector<A> expected(2, A(0));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(number(random));
      expected[i / static_cast<std::size_t>(length)] += static_cast<A>(x[i]);
    }
    EXPECT_EQ((reduced<T, A>(Reduction::sum, x, Shape{2, length}, axis_set({1}))), expected)
        << length;
  }
}

TEST(Reduce, LongRunsOfAnyLengthAreSummedExactly) {
  expect_sums_of_runs<float, double>();
  expect_sums_of_runs<double, double>();
  expect_sums_of_runs<int32_t, int64_t>();
}

// Chunks of an output that begin or end in another run than its first one.
template <class T, class A>
void expect_sums_of_runs_apart() {
  std::mt19937 random(14);
  std::uniform_int_distribution<int> number(0, 100);
  for (const auto& [groups, length] : {std::pair<int64_t, int64_t>{2, 65537},
                                       {2, 131073},
                                       {3, 100003},
                                       {4, 40000},
                                       {5, 32769},
                                       {131, 1031}}) {
    constexpr int64_t kOutputs = 2;
    std::vector<T> x(static_cast<std::size_t>(groups * kOutputs * length));
    std::vector<A> expected(kOutputs, A(0));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(number(random));
      expected[i / static_cast<std::size_t>(length) % kOutputs] += static_cast<A>(x[i]);
    }
    EXPECT_EQ((reduced<T, A>(Reduction::sum, x, Shape{groups, kOutputs, length}, axis_set({0, 2}))),
              expected)
        << groups << " runs of " << length;
  }
}

// The same where kept dimensions lie around the runs, too.
template <class T, class A>
void expect_sums_of_runs_between() {
  constexpr int64_t kOuter = 2, kGroups = 3, kInner = 2, kLength = 65537;
  std::vector<T> x(static_cast<std::size_t>(kOuter * kGroups * kInner * kLength));
  std::vector<A> expected(kOuter * kInner, A(0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(i * 7 % 101);
    const std::size_t row = i / kLength;
    expected[row / (kGroups * kInner) * kInner + row % kInner] += static_cast<A>(x[i]);
  }
  EXPECT_EQ(
      (reduced<T, A>(Reduction::sum, x, Shape{kOuter, kGroups, kInner, kLength}, axis_set({1, 3}))),
      expected);
}

TEST(Reduce, ChunksBehindTheFirstRunAreReadWhereTheyLie) {
  expect_sums_of_runs_between<float, double>();
  expect_sums_of_runs_between<double, double>();
  expect_sums_of_runs_between<int32_t, int64_t>();
  expect_sums_of_runs_apart<float, double>();
  expect_sums_of_runs_apart<double, double>();
  expect_sums_of_runs_apart<float16, float>();
  expect_sums_of_runs_apart<int32_t, int64_t>();
  expect_sums_of_runs_apart<uint8_t, int64_t>();
}

// Rows that are read two at a time, in blocks whose last one may be odd: around the lengths at
// which a vector, a step, a fold, a call end.
template <class T, class A>
void expect_sums_of_rows() {
  for (const int64_t length :
       {63, 64, 65, 79, 80, 83, 127, 1000, 1024, 1025, 1043, 4097, 16384, 16385, 33000}) {
    for (const int64_t rows : {1, 2, 3, 15, 16, 17, 33, 131, 1025, 2500}) {
      if (rows * length > 3'000'000) continue;
      std::vector<T> x(static_cast<std::size_t>(rows * length));
      std::vector<A> sums(static_cast<std::size_t>(rows)), squares = sums;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<T>(i * 7 % 101);
        sums[i / static_cast<std::size_t>(length)] += static_cast<A>(x[i]);
        squares[i / static_cast<std::size_t>(length)] +=
            static_cast<A>(x[i]) * static_cast<A>(x[i]);
      }
      const Shape shape{rows, length};
      EXPECT_EQ((reduced<T, A>(Reduction::sum, x, shape, axis_set({1}))), sums) << to_string(shape);
      EXPECT_EQ((reduced<T, A>(Reduction::sum_squares, x, shape, axis_set({1}))), squares)
          << to_string(shape);
    }
  }
}

TEST(Reduce, RowsOfAnyLengthAndNumberAreSummedExactly) {
  expect_sums_of_rows<float, double>();
  expect_sums_of_rows<double, double>();
  expect_sums_of_rows<int32_t, int64_t>();
}

// Planes of channels, those of an image and of several, and more channels than a store takes.
template <class T, class A>
void expect_channels() {
  for (const Shape& shape :
       {Shape{3, 5, 128}, Shape{7, 64, 784}, Shape{6, 3, 50176}, Shape{5, 1, 20001},
        Shape{2, 1100, 129}, Shape{9, 2, 4099}, Shape{1025, 3, 130}}) {
    std::vector<T> x(static_cast<std::size_t>(shape.size()));
    const auto channels = static_cast<std::size_t>(shape[1]);
    std::vector<A> sums(channels, A(0)), greatest(channels, A(0));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(i * 7 % 101);
      const std::size_t channel = i / static_cast<std::size_t>(shape[2]) % channels;
      sums[channel] += static_cast<A>(x[i]);
      greatest[channel] = std::max(greatest[channel], static_cast<A>(x[i]));
    }
    EXPECT_EQ((reduced<T, A>(Reduction::sum, x, shape, axis_set({0, 2}))), sums)
        << to_string(shape);
    EXPECT_EQ((reduced<T, A>(Reduction::max, x, shape, axis_set({0, 2}))), greatest)
        << to_string(shape);
  }
}

TEST(Reduce, ChannelsAreReducedInTheOrderInWhichTheyLie) {
  expect_channels<float, double>();
  expect_channels<float16, float>();
  expect_channels<double, double>();
  expect_channels<int64_t, int64_t>();
  expect_channels<uint8_t, int64_t>();
}

// More than the caches hold, in blocks of rows of which the last has a few.
template <class T, class A>
void expect_sums_of_large_columns() {
  constexpr int64_t kRows = 4099, kWidth = 1031;
  std::vector<T> x(kRows * kWidth);
  std::vector<A> expected(kWidth, A(0));
  std::mt19937 random(13);
  std::uniform_int_distribution<int> number(-1000, 1000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(number(random));
    expected[i % kWidth] += static_cast<A>(x[i]);
  }
  EXPECT_EQ((reduced<T, A>(Reduction::sum, x, Shape{kRows, kWidth}, axis_set({0}))), expected);
}

TEST(Reduce, ColumnsOutOfMemoryMissNoRow) {
  expect_sums_of_large_columns<float, double>();
  expect_sums_of_large_columns<double, double>();
}

// Few columns are taken up side by side.
TEST(Reduce, NarrowColumnsMissNoRow) {
  for (int64_t width = 1; width <= 33; ++width) {
    for (const int64_t rows : {1, 7, 8, 40, 64, 1001, 5003}) {
      std::vector<float> x(static_cast<std::size_t>(rows * width));
      std::vector<double> expected(static_cast<std::size_t>(width), 0.0);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(i % 101);
        expected[i % static_cast<std::size_t>(width)] += static_cast<double>(x[i]);
      }
      EXPECT_EQ((reduced<float, double>(Reduction::sum, x, Shape{rows, width}, axis_set({0}))),
                expected)
          << rows << " x " << width;
    }
  }
}

// Rows that one call takes together, and columns whose last vector lies over others: every width
// about those of vectors, alone, a few and more than a call takes. NaN and both zeros are among the
// numbers.
template <class T, class A>
void expect_reductions_of_any_width() {
  std::mt19937 random(14);
  std::uniform_int_distribution<int> number(0, 100);
  const auto chosen = [](Reduction r, A a, A b) {
    if (r == Reduction::sum) return static_cast<A>(a + b);
    return (r == Reduction::max ? b > a : b < a) || b != b ? b : a;
  };
  constexpr bool kSigned = std::is_floating_point_v<A>;
  for (int64_t width = 1; width <= 70; ++width) {
    for (const auto& [blocks, rows] :
         {std::pair<int64_t, int64_t>{1, 1}, {1, 3}, {1, 9}, {3, 7}, {2, 50}, {40, 17}}) {
      const Shape shape{blocks, rows, width};
      std::vector<T> x(static_cast<std::size_t>(shape.size()));
      for (T& value : x) value = static_cast<T>(number(random));
      for (const Reduction r : {Reduction::sum, Reduction::max, Reduction::min}) {
        if (kSigned && r != Reduction::sum) {
          x[x.size() / 2] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
          for (std::size_t i = 0; i < x.size(); i += 3) x[i] = static_cast<T>(-0.0f);
        }
        const A first = r == Reduction::sum   ? A(0)
                        : kSigned             ? (r == Reduction::max ? A(-INFINITY) : A(INFINITY))
                        : r == Reduction::max ? std::numeric_limits<A>::lowest()
                                              : std::numeric_limits<A>::max();
        std::vector<A> along_rows(static_cast<std::size_t>(blocks * rows), first);
        std::vector<A> along_columns(static_cast<std::size_t>(blocks * width), first);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const auto at = static_cast<int64_t>(i);
          // Numbers, also those of eight bits.
          const A value = static_cast<A>(x[i]);  // NOLINT(bugprone-signed-char-misuse)
          A& row = along_rows[static_cast<std::size_t>(at / width)];
          A& column =
              along_columns[static_cast<std::size_t>(at / (rows * width) * width + at % width)];
          row = chosen(r, row, value);
          column = chosen(r, column, value);
        }
        const auto expect = [&](AxisSet set, const std::vector<A>& expected) {
          const auto got = reduced<T, A>(r, x, shape, set);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_TRUE(got[i] == expected[i] || (got[i] != got[i] && expected[i] != expected[i]))
                << i << " of " << to_string(shape) << " axes " << set << ": " << got[i] << ", not "
                << expected[i];
          }
        };
        expect(axis_set({2}), along_rows);
        expect(axis_set({1}), along_columns);
      }
    }
  }
}

TEST(Reduce, RowsAndColumnsOfAnyWidth) {
  expect_reductions_of_any_width<float, float>();
  expect_reductions_of_any_width<float, double>();
  expect_reductions_of_any_width<double, double>();
  expect_reductions_of_any_width<float16, float>();
  expect_reductions_of_any_width<int8_t, int64_t>();
  expect_reductions_of_any_width<uint8_t, int64_t>();
  expect_reductions_of_any_width<int32_t, int64_t>();
  expect_reductions_of_any_width<int64_t, int64_t>();
}

// Out of memory rows are taken up one by one, or narrow ones together: no row is missed or taken
// twice, nor a column behind whole vectors.
TEST(Reduce, RowsOutOfMemoryMissNone) {
  for (const int64_t width : {33, 95, 97, 191, 193, 385}) {
    const Shape shape{kPastCaches / width + 3, width};
    std::vector<int8_t> x(static_cast<std::size_t>(shape.size()), 1);
    for (int64_t j = 0; j < width; ++j)
      x[static_cast<std::size_t>((j * 7919 % shape[0]) * width + j)] =
          static_cast<int8_t>(2 + j % 99);
    const auto most = reduced<int8_t, int64_t>(Reduction::max, x, shape, axis_set({0}));
    const auto sums = reduced<int8_t, int64_t>(Reduction::sum, x, shape, axis_set({0}));
    for (int64_t j = 0; j < width; ++j) {
      const auto at = static_cast<std::size_t>(j);
      ASSERT_EQ(most[at], 2 + j % 99) << "column " << j << " of " << width;
      ASSERT_EQ(sums[at], shape[0] + 1 + j % 99) << "column " << j << " of " << width;
    }
  }
}

}  // namespace
}  // namespace mxnet
