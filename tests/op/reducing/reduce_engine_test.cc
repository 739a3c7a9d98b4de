// SPDX-License-Identifier: Apache-2.0
// The reduction engine: how axes collapse, that threads do not change sums, that sums are exact.
#include "op/reducing/reduce_engine.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/stream_copy.h"

namespace mxnet {
namespace {

constexpr AxisSet axes(std::initializer_list<int> list) {
  AxisSet set = 0;
  for (const int axis : list) set |= AxisSet{1} << axis;
  return set;
}

template <class T, class A>
std::vector<A> run(Reduction reduction, std::vector<T>& x, const Shape& shape, AxisSet set,
                   const A* about = nullptr) {
  const ReducePlan plan(shape, set);
  std::vector<A> out(static_cast<std::size_t>(plan.outputs()));
  reduce<A>(
      reduction, {x.data(), &shape, dtype_of<T>}, plan,
      [&](int64_t first, const A* values, int64_t n) {
        std::copy_n(values, n, out.begin() + first);
      },
      about);
  return out;
}

TEST(ReducePlan, NeighboursThatBehaveAlikeBecomeOneDimension) {
  const ReducePlan rows(Shape{2, 3, 4, 5}, axes({2, 3}));
  EXPECT_TRUE(rows.inner_reduced());
  EXPECT_EQ(rows.run(), 20);
  EXPECT_EQ(rows.outputs(), 6);
  EXPECT_EQ(rows.kept().count(), 1);
  EXPECT_EQ(rows.reduced().count(), 0);
}

TEST(ReducePlan, DimensionsOfOneDoNotSeparateOthers) {
  const ReducePlan plan(Shape{4, 1, 5}, axes({0, 2}));
  EXPECT_EQ(plan.run(), 20);
  EXPECT_EQ(plan.outputs(), 1);
}

TEST(ReducePlan, AlternatingAxesKeepTheirStrides) {
  const ReducePlan plan(Shape{2, 3, 4, 5}, axes({0, 2}));
  EXPECT_FALSE(plan.inner_reduced());
  EXPECT_EQ(plan.run(), 5);
  EXPECT_EQ(plan.outputs(), 15);
  EXPECT_EQ(plan.extent(), 8);
  EXPECT_EQ(plan.reduced().offset(5), 60 + 5);  // second of dimension 0, second of dimension 2
}

TEST(ReducePlan, AScalarIsOneOutputOfOneElement) {
  const ReducePlan plan(Shape::scalar(), 0);
  EXPECT_EQ(plan.outputs(), 1);
  EXPECT_EQ(plan.extent(), 1);
}

TEST(Reduce, OutputsWithoutElementsAreTheIdentity) {
  std::vector<double> none;
  EXPECT_EQ((run<double, double>(Reduction::sum, none, Shape{3, 0}, axes({1}))),
            std::vector<double>(3, 0.0));
  EXPECT_EQ((run<double, double>(Reduction::prod, none, Shape{0, 2}, axes({0}))),
            std::vector<double>(2, 1.0));
}

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
        EXPECT_EQ((run<T, A>(Reduction::sum, x, shape, axes({1}))), expected)
            << blocks << " x " << rows << " x " << width;
        EXPECT_EQ((run<T, A>(Reduction::max, x, shape, axes({1}))), greatest)
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
      reduce<A>(Reduction::sum, {x.data() + 1, &shape, dtype_of<T>}, ReducePlan(shape, axes({1})),
                [&](int64_t first, const A* values, int64_t n) {
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

// About the lengths that 16 bits hold, of the greatest bytes; of bool any but 0 counts one.
TEST(Reduce, RowsOfBytesOfAnyLengthAreSummedExactly) {
  for (const int64_t length : {15, 16, 17, 31, 32, 33, 64, 255, 256, 257, 258, 300, 5000}) {
    constexpr int64_t kRows = 5;
    std::vector<uint8_t> x(static_cast<std::size_t>(kRows * length + 1), 255);
    for (std::size_t i = 0; i < x.size(); i += 7) x[i] = static_cast<uint8_t>(i % 256);
    std::vector<int64_t> sums(kRows), truths(kRows), out(kRows);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kRows * length); ++i) {
      sums[i / static_cast<std::size_t>(length)] += x[i + 1];
      truths[i / static_cast<std::size_t>(length)] += x[i + 1] != 0;
    }
    const Shape shape{kRows, length};
    const auto summed = [&](DType dtype) {
      reduce<int64_t>(Reduction::sum, {x.data() + 1, &shape, dtype}, ReducePlan(shape, axes({1})),
                      [&](int64_t first, const int64_t* values, int64_t n) {
                        std::copy_n(values, n, out.begin() + first);
                      });
      return out;
    };
    EXPECT_EQ(summed(DType::kUInt8), sums) << length;
    EXPECT_EQ(summed(DType::kBool), truths) << length;
  }
}

TEST(Reduce, ShortBlocksHaveParametersOfTheirOwn) {
  std::vector<double> x(50 * 3 * 4), about(50 * 4), expected(50 * 4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 13);
  for (std::size_t i = 0; i < about.size(); ++i) about[i] = static_cast<double>(i % 5);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t out = i / 12 * 4 + i % 4;
    expected[out] += (x[i] - about[out]) * (x[i] - about[out]);
  }
  EXPECT_EQ((run<double, double>(Reduction::sum_squares_about, x, Shape{50, 3, 4}, axes({1}),
                                 about.data())),
            expected);
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
      EXPECT_EQ((run<T, A>(Reduction::sum, x, Shape{3, rows, width}, axes({1}))), expected)
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
    EXPECT_EQ((run<T, A>(Reduction::sum, x, Shape{2, length}, axes({1}))), expected) << length;
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
    EXPECT_EQ((run<T, A>(Reduction::sum, x, Shape{groups, kOutputs, length}, axes({0, 2}))),
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
  EXPECT_EQ((run<T, A>(Reduction::sum, x, Shape{kOuter, kGroups, kInner, kLength}, axes({1, 3}))),
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
      EXPECT_EQ((run<T, A>(Reduction::sum, x, shape, axes({1}))), sums) << to_string(shape);
      EXPECT_EQ((run<T, A>(Reduction::sum_squares, x, shape, axes({1}))), squares)
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
    EXPECT_EQ((run<T, A>(Reduction::sum, x, shape, axes({0, 2}))), sums) << to_string(shape);
    EXPECT_EQ((run<T, A>(Reduction::max, x, shape, axes({0, 2}))), greatest) << to_string(shape);
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
  EXPECT_EQ((run<T, A>(Reduction::sum, x, Shape{kRows, kWidth}, axes({0}))), expected);
}
TEST(Reduce, ColumnsOutOfMemoryMissNoRow) {
  expect_sums_of_large_columns<float, double>();
  expect_sums_of_large_columns<double, double>();
}

TEST(Reduce, TheNumberOfThreadsDoesNotChangeASum) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> x(3'000'000);
  for (float& value : x) value = normal(random);
  const int threads = omp_get_max_threads();
  for (const Shape& shape : {Shape{3'000'000, 1}, Shape{1500, 2000}, Shape{750'000, 4},
                             Shape{25, 3, 40'000}, Shape{500, 30, 200}, Shape{30, 100'000}}) {
    for (const AxisSet set : {axes({0}), axes({1}), axes({0, 1}), axes({0, 2})}) {
      if (set >> shape.ndim() != 0) continue;
      omp_set_num_threads(1);
      const auto alone = run<float, float>(Reduction::sum, x, shape, set);
      const auto exactly = run<float, double>(Reduction::sum, x, shape, set);
      for (const int many : {2, 3, 4}) {
        omp_set_num_threads(many);
        EXPECT_EQ(alone, (run<float, float>(Reduction::sum, x, shape, set)))
            << to_string(shape) << " axes " << set;
        EXPECT_EQ(exactly, (run<float, double>(Reduction::sum, x, shape, set)))
            << to_string(shape) << " axes " << set;
      }
    }
  }
  omp_set_num_threads(threads);
}

// 0.1 in float32, a million times: a straight sum is off by one percent.
TEST(Reduce, TheErrorOfANarrowSumDoesNotGrowWithItsLength) {
  std::vector<float> x(1 << 20, 0.1f);
  const double exact = static_cast<double>(0.1f) * (1 << 20);
  const Shape row{1 << 20}, column{1 << 19, 2};
  EXPECT_NEAR((run<float, float>(Reduction::sum, x, row, axes({0})))[0], exact, exact * 1e-6);
  EXPECT_NEAR((run<float, float>(Reduction::sum, x, column, axes({0})))[0], exact / 2,
              exact * 1e-5);
}

// The same of doubles, in runs that one call of a loop takes and longer ones: a straight sum of the
// longest is off by 1e-11, one that begins again every few thousand by the last place.
TEST(Reduce, TheErrorOfASumOfDoublesDoesNotGrowWithItsLength) {
  for (const int bits : {12, 14, 17, 20}) {
    std::vector<double> x(std::size_t{1} << bits, 0.1);
    const double exact = std::ldexp(0.1, bits);
    EXPECT_NEAR((run<double, double>(Reduction::sum, x, Shape{int64_t{1} << bits}, axes({0})))[0],
                exact, exact * 2e-15)
        << bits;
  }
}

// Floats whose sum and whose squares a double holds exactly, at every length around those of
// vectors: the smallest of them counts beside the largest.
TEST(Reduce, FloatsThatCancelAreAddedExactly) {
  for (int64_t length = 1; length <= 300; ++length) {
    std::vector<float> x(static_cast<std::size_t>(2 * length), 0.0f);
    const auto at = [&](int64_t i) -> float& { return x[static_cast<std::size_t>(i % length)]; };
    at(0) += 16777216.0f;
    at(length / 2) += 0.25f;
    at(length - 1) -= 16777216.0f;
    for (int64_t i = 0; i < length; ++i) x[static_cast<std::size_t>(length + i)] = -at(i);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < length; ++i) {
      sum += static_cast<double>(at(i));
      squares += static_cast<double>(at(i)) * static_cast<double>(at(i));
    }
    EXPECT_EQ((run<float, double>(Reduction::sum, x, Shape{2, length}, axes({1}))),
              (std::vector<double>{sum, -sum}))
        << length;
    EXPECT_EQ((run<float, double>(Reduction::sum_squares, x, Shape{2, length}, axes({1}))),
              (std::vector<double>{squares, squares}))
        << length;
    EXPECT_EQ((run<float, double>(Reduction::sum, x, Shape{2, length}, axes({0}))),
              std::vector<double>(static_cast<std::size_t>(length), 0.0))
        << length;
  }
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
      EXPECT_EQ((run<float, double>(Reduction::sum, x, Shape{rows, width}, axes({0}))), expected)
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
  constexpr bool kSigned = std::is_same_v<A, float>;
  for (int64_t width = 1; width <= 70; ++width) {
    for (const auto& [blocks, rows] :
         {std::pair<int64_t, int64_t>{1, 1}, {1, 9}, {3, 7}, {40, 17}}) {
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
          const A value = static_cast<A>(x[i]);
          A& row = along_rows[static_cast<std::size_t>(at / width)];
          A& column =
              along_columns[static_cast<std::size_t>(at / (rows * width) * width + at % width)];
          row = chosen(r, row, value);
          column = chosen(r, column, value);
        }
        const auto expect = [&](AxisSet set, const std::vector<A>& expected) {
          const auto got = run<T, A>(r, x, shape, set);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_TRUE(got[i] == expected[i] || (got[i] != got[i] && expected[i] != expected[i]))
                << i << " of " << to_string(shape) << " axes " << set << ": " << got[i] << ", not "
                << expected[i];
          }
        };
        expect(axes({2}), along_rows);
        expect(axes({1}), along_columns);
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
    const auto most = run<int8_t, int64_t>(Reduction::max, x, shape, axes({0}));
    const auto sums = run<int8_t, int64_t>(Reduction::sum, x, shape, axes({0}));
    for (int64_t j = 0; j < width; ++j) {
      const auto at = static_cast<std::size_t>(j);
      ASSERT_EQ(most[at], 2 + j % 99) << "column " << j << " of " << width;
      ASSERT_EQ(sums[at], shape[0] + 1 + j % 99) << "column " << j << " of " << width;
    }
  }
}

TEST(Reduce, ManyRowsHaveParametersOfTheirOwn) {
  constexpr std::size_t kRows = 3000, kLength = 33;
  std::vector<double> x(kRows * kLength), about(kRows), expected(kRows, 0.0);
  for (std::size_t i = 0; i < kRows; ++i) about[i] = static_cast<double>(i % 7);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i % 19);
    const double apart = x[i] - about[i / kLength];
    expected[i / kLength] += apart * apart;
  }
  EXPECT_EQ((run<double, double>(Reduction::sum_squares_about, x, Shape{kRows, kLength}, axes({1}),
                                 about.data())),
            expected);
}

TEST(Reduce, EachOutputHasItsOwnParameter) {
  std::vector<double> x{1, 2, 3, 11, 12, 13};
  const std::vector<double> about{2, 12};
  EXPECT_EQ(
      (run<double, double>(Reduction::sum_squares_about, x, Shape{2, 3}, axes({1}), about.data())),
      (std::vector<double>{2, 2}));
}

TEST(Reduce, IntegersMeetInInt64) {
  std::vector<int8_t> x(100'000, 127);
  EXPECT_EQ((run<int8_t, int64_t>(Reduction::sum, x, Shape{100'000}, axes({0})))[0], 12'700'000);
}

// Infinities and negative zeros alone, and the greatest number at an end.
TEST(Reduce, ExtremesOfRowsAreAmongTheirNumbers) {
  for (const int64_t length : {1, 16, 64, 200, 5000}) {
    std::vector<float> x(static_cast<std::size_t>(length), -INFINITY);
    EXPECT_EQ((run<float, float>(Reduction::max, x, Shape{length}, axes({0})))[0], -INFINITY);
    EXPECT_EQ((run<float, float>(Reduction::min, x, Shape{length}, axes({0})))[0], -INFINITY);
    std::fill(x.begin(), x.end(), -0.0f);
    EXPECT_TRUE(std::signbit((run<float, float>(Reduction::max, x, Shape{length}, axes({0})))[0]));
    for (float& value : x) value = static_cast<float>(&value - x.data());
    EXPECT_EQ((run<float, float>(Reduction::max, x, Shape{length}, axes({0})))[0], x.back());
    EXPECT_EQ((run<float, float>(Reduction::min, x, Shape{length}, axes({0})))[0], 0.0f);
  }
}

TEST(Reduce, ANanIsTheLargestAndTheSmallest) {
  std::vector<float> x(100, 1.0f);
  for (const std::size_t length : {1, 15, 16, 17, 100, 131, 300}) {
    for (std::size_t at = 0; at < length; ++at) {
      std::vector<float> row(length, at % 3 == 0 ? -INFINITY : 1.0f);
      row[at] = NAN;
      const Shape shape{static_cast<int64_t>(length)};
      for (const Reduction r : {Reduction::max, Reduction::min})
        EXPECT_TRUE(std::isnan((run<float, float>(r, row, shape, axes({0})))[0]))
            << at << " of " << length;
    }
  }
  x[77] = NAN;
  EXPECT_EQ((run<float, float>(Reduction::nansum, x, Shape{100}, axes({0})))[0], 99.0f);
}

}  // namespace
}  // namespace mxnet
