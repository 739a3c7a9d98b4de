// SPDX-License-Identifier: Apache-2.0
// What is reduced together with others gives the bits that it gives by itself: rows of a few
// vectors, planes of a few columns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "base/simd.h"
#include "reduce_run.h"

namespace mxnet {
namespace {

// Numbers that other orders round otherwise.
template <class T>
std::vector<T> numbers(int64_t count, std::mt19937& random) {
  std::uniform_int_distribution<int> number(-1000, 1000);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::is_floating_point_v<T>
               ? static_cast<T>(std::ldexp(number(random) / 7.0, static_cast<int>(i % 5) * 20))
               : static_cast<T>(number(random));
  return x;
}

// Each part of x as an array of its own.
template <class T, class A>
std::vector<A> one_by_one(Reduction reduction, const std::vector<T>& x, const Shape& part,
                          AxisSet axes) {
  std::vector<A> all;
  for (auto at = x.begin(); at != x.end(); at += part.size()) {
    std::vector<T> own(at, at + part.size());
    const auto values = reduced<T, A>(reduction, own, part, axes);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

template <class A>
void expect_same_bits(const std::vector<A>& got, const std::vector<A>& expected,
                      const Shape& shape) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof(A)), 0)
        << "output " << i << " of " << to_string(shape) << ": " << got[i] << ", not "
        << expected[i];
}

template <class T, class A>
void expect_rows_as_alone(Reduction reduction, int64_t longest = 135) {
  std::mt19937 random(21);
  for (int64_t length = 17; length <= longest; ++length) {
    const Shape shape{27, length}, row{1, length};
    auto x = numbers<T>(shape.size(), random);
    const auto compare = [&] {
      expect_same_bits(reduced<T, A>(reduction, x, shape, axis_set({1})),
                       one_by_one<T, A>(reduction, x, row, axis_set({1})), shape);
    };
    compare();
    if constexpr (std::is_floating_point_v<T>) {
      // Of rows of zeros the sign says which was found, whose neighbours have numbers or a NaN.
      for (int64_t i = 0; i < 5 * length; ++i)
        x[static_cast<std::size_t>(i)] = random() % 2 == 0 ? T(0.0) : T(-0.0);
      compare();
      for (const int64_t at : {length / 2, 12 * length, 24 * length - 1})
        x[static_cast<std::size_t>(at)] = std::numeric_limits<T>::quiet_NaN();
      compare();
    }
  }
}

TEST(ReduceTogether, RowsOfAFewVectorsAreWhatTheyAreAlone) {
  for (const Reduction extreme : {Reduction::max, Reduction::min}) {
    expect_rows_as_alone<float, float>(extreme);
    expect_rows_as_alone<double, double>(extreme);
    expect_rows_as_alone<int32_t, int64_t>(extreme);
    expect_rows_as_alone<int64_t, int64_t>(extreme);
  }
  for (const Reduction reduction : {Reduction::prod, Reduction::nansum}) {
    expect_rows_as_alone<float, double>(reduction);
    expect_rows_as_alone<double, double>(reduction);
  }
  // With vectors of 256 bits longer ones may be read two at a time, each with half of the chains.
  const bool in_pairs = simd_level_for_traffic() < 2;
  expect_rows_as_alone<float, double>(Reduction::sum, in_pairs ? 63 : 520);
  expect_rows_as_alone<float, double>(Reduction::sum_squares, in_pairs ? 63 : 135);
  expect_rows_as_alone<double, double>(Reduction::sum_squares);
  expect_rows_as_alone<double, double>(Reduction::sum);
}

// Beside as many others as are summed at once, fewer and more, and as the last one.
template <class T, class A>
void expect_planes_as_with_few(Reduction reduction = Reduction::sum) {
  std::mt19937 random(22);
  for (const int64_t rows : {1, 2, 7, 30, 33, 50, 100, 255, 256, 257}) {
    for (int64_t width = 2; width <= 34; ++width) {
      const Shape shape{22, rows, width}, two{2, rows, width};
      auto x = numbers<T>(shape.size(), random);
      if (reduction == Reduction::nansum)
        for (std::size_t i = 0; i < x.size(); i += 1 + random() % 30)
          x[i] = std::numeric_limits<T>::quiet_NaN();
      expect_same_bits(reduced<T, A>(reduction, x, shape, axis_set({1})),
                       one_by_one<T, A>(reduction, x, two, axis_set({1})), shape);
    }
  }
}

TEST(ReduceTogether, PlanesOfAFewColumnsAreWhatTheyAreWithFewOthers) {
  expect_planes_as_with_few<float, double>();
  expect_planes_as_with_few<double, double>();
  expect_planes_as_with_few<float, double>(Reduction::nansum);
  expect_planes_as_with_few<double, double>(Reduction::nansum);
}

// Small whole numbers, whose sums no order rounds.
template <class T, class A>
void expect_exact_planes(Reduction reduction = Reduction::sum) {
  for (const int64_t blocks : {2, 3, 8, 9, 31, 400}) {
    for (const int64_t rows : {1, 2, 3, 4, 33, 100, 256, 300}) {
      for (const int64_t width : {2, 3, 4, 5, 8, 9, 13, 16, 17, 24, 25, 32, 33}) {
        const Shape shape{blocks, rows, width};
        std::vector<T> x(static_cast<std::size_t>(shape.size()));
        std::vector<A> expected(static_cast<std::size_t>(blocks * width), A(0));
        for (std::size_t i = 0; i < x.size(); ++i) {
          const auto at = static_cast<int64_t>(i);
          if (reduction == Reduction::nansum && i % 5 == 2) {
            x[i] = std::numeric_limits<T>::quiet_NaN();
            continue;
          }
          x[i] = static_cast<T>(i * 7 % 101);
          expected[static_cast<std::size_t>(at / (rows * width) * width + at % width)] +=
              static_cast<A>(x[i]);
        }
        EXPECT_EQ((reduced<T, A>(reduction, x, shape, axis_set({1}))), expected)
            << to_string(shape);
      }
    }
  }
}

TEST(ReduceTogether, PlanesMissNoRowOrColumn) {
  expect_exact_planes<float, double>();
  expect_exact_planes<double, double>();
  expect_exact_planes<float, double>(Reduction::nansum);
  expect_exact_planes<double, double>(Reduction::nansum);
}

// Runs of an output, which lie apart: the last vector of each lies over the one before, so a
// number, or a NaN, is put at each place of a run, one after the other.
template <class T, class A>
void expect_extremes_of_runs() {
  std::mt19937 random(23);
  constexpr int64_t kRuns = 5, kOutputs = 3;
  for (int64_t length = 29; length <= 140; ++length) {
    const Shape shape{kRuns, kOutputs, length};
    auto x = numbers<T>(shape.size(), random);
    for (int64_t at = 0; at < length; ++at) {
      const auto run = static_cast<std::size_t>((at % kRuns * kOutputs + 1) * length + at);
      const T before = x[run];
      x[run] = T(1'000'000'000);
      if constexpr (std::is_floating_point_v<T>) x[run] = std::ldexp(T(1), 100);
      EXPECT_EQ((reduced<T, A>(Reduction::max, x, shape, axis_set({0, 2})))[1], A(x[run]))
          << at << " of " << length;
      x[run] = -x[run];
      EXPECT_EQ((reduced<T, A>(Reduction::min, x, shape, axis_set({0, 2})))[1], A(x[run]))
          << at << " of " << length;
      if constexpr (std::is_floating_point_v<T>) {
        x[run] = std::numeric_limits<T>::quiet_NaN();
        for (const Reduction r : {Reduction::max, Reduction::min}) {
          const auto found = reduced<T, A>(r, x, shape, axis_set({0, 2}));
          EXPECT_TRUE(!std::isnan(found[0]) && std::isnan(found[1]) && !std::isnan(found[2]))
              << at << " of " << length;
        }
      }
      x[run] = before;
    }
  }
}

TEST(ReduceTogether, ExtremesOfRunsThatLieApartMissNoElement) {
  expect_extremes_of_runs<float, float>();
  expect_extremes_of_runs<double, double>();
  expect_extremes_of_runs<int32_t, int64_t>();
  expect_extremes_of_runs<int64_t, int64_t>();
}

}  // namespace
}  // namespace mxnet
