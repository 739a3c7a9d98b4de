// SPDX-License-Identifier: Apache-2.0
// Matrices and columns of every width: as each number with its own, to the bit, whichever side the
// column is on, whatever is special about a number, in the place of the matrix and in parts.
#include "op/rows/column_loops.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "base/half.h"
#include "base/simd.h"
#include "no_resources.h"
#include "op/rows/binary_kernel.h"
#include "op/rows/half_loops.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261129;

// Integers of all bits. Of real numbers zeros of both signs, infinities, NaN and numbers that are
// hardly any, among others.
template <class T>
std::vector<T> some_numbers(int64_t count, std::mt19937_64& random) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  if constexpr (std::is_integral_v<T>) {
    for (T& x : numbers) x = static_cast<T>(random());
    return numbers;
  } else {
    using Float = std::conditional_t<std::is_same_v<T, double>, double, float>;
    using Limits = std::numeric_limits<Float>;
    const T special[] = {
        T(Float(0)),
        T(-Float(0)),
        T(Limits::infinity()),
        T(-Limits::infinity()),
        T(Limits::quiet_NaN()),
        sizeof(T) == 2 ? std::bit_cast<T>(std::array<char, sizeof(T)>{1}) : T(Limits::denorm_min()),
        T(std::is_same_v<T, float16> ? Float(65504) : Limits::max()),
        T(Float(1))};
    std::uniform_real_distribution<Float> number(-2, 2);
    for (T& x : numbers) x = random() % 4 == 0 ? special[random() % 8] : T(number(random));
    return numbers;
  }
}

// The same bits; any NaN is as good as another.
template <class T>
bool are_alike(T first, T second) {
  if constexpr (std::is_integral_v<T>) {
    return first == second;
  } else {
    const auto a = static_cast<double>(first), b = static_cast<double>(second);
    return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
  }
}

// The function of two arrays, number by number.
template <class T>
void of_arrays(BinaryRow row, const T* a, const T* b, T* y, int64_t n) {
  if constexpr (sizeof(T) == 2) {
    if (const auto loop = half_loop<T>(row).arrays) return loop(a, b, y, n);
    for (int64_t i = 0; i < n; ++i) {  // from AVX2 on
      const float first = static_cast<float>(a[i]), second = static_cast<float>(b[i]);
      float number = 0;
      binary_loop<float, float>(row).arrays(&first, &second, &number, 1);
      y[i] = T(number);
    }
  } else {
    binary_loop<T, T>(row).arrays(a, b, y, n);
  }
}

template <class T>
void expect_each_with_its_own(BinaryRow row, bool left, int64_t rows, int64_t n, bool in_place) {
  std::mt19937_64 random(kSeed + static_cast<uint64_t>(n));
  const std::vector<T> matrix = some_numbers<T>(rows * n, random);
  std::vector<T> column = some_numbers<T>(rows, random), spread;
  for (const T x : column) spread.insert(spread.end(), static_cast<std::size_t>(n), x);
  std::vector<T> want(matrix.size()), got = matrix, other(matrix.size());
  of_arrays(row, (left ? spread : matrix).data(), (left ? matrix : spread).data(), want.data(),
            rows * n);
  const Shape whole{rows, n}, one{rows, 1};
  const Tensor a{got.data(), &whole, dtype_of<T>}, b{column.data(), &one, dtype_of<T>};
  std::vector<T>& result = in_place ? got : other;
  NoResources resources;
  KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
  run_binary(row, left ? b : a, left ? a : b, {result.data(), &whole, dtype_of<T>}, context);
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_TRUE(are_alike(result[i], want[i]))
        << "row " << static_cast<int>(row) << (left ? ", column on the left" : "")
        << (in_place ? ", in place" : "") << ", width " << n << ", at " << i << ": " << result[i]
        << " and not " << want[i];
  }
}

template <class T>
class ColumnLoops : public testing::Test {};
using Types = testing::Types<float, double, float16, bfloat16, int8_t, uint8_t, int32_t, int64_t>;
TYPED_TEST_SUITE(ColumnLoops, Types);

TYPED_TEST(ColumnLoops, GiveWhatArraysGive) {
  for (const BinaryRow row : {BinaryRow::add, BinaryRow::subtract, BinaryRow::multiply,
                              BinaryRow::maximum, BinaryRow::minimum, BinaryRow::divide}) {
    if (row == BinaryRow::divide && std::is_integral_v<TypeParam>) continue;  // by zeros
    for (int64_t n = 2; n <= 513; n += n < 70 ? 1 : 83) {
      for (const bool left : {false, true})
        for (const bool in_place : {false, true})
          expect_each_with_its_own<TypeParam>(row, left, 7, n, in_place);
    }
  }
}

// Bytes and integers of 32 bits have loops from AVX2 on, for rows of a vector and more.
TEST(ColumnLoop, IsThereForIntegers) {
  const bool wide = simd_level() > 0;
  EXPECT_EQ(column_loop<int32_t>(BinaryRow::add, false, 33) != nullptr, wide);
  EXPECT_EQ(column_loop<int32_t>(BinaryRow::maximum, true, 33) != nullptr, wide);
  EXPECT_EQ(column_loop<uint8_t>(BinaryRow::multiply, false, 200) != nullptr, wide);
  EXPECT_EQ(column_loop<int8_t>(BinaryRow::minimum, false, 200) != nullptr, wide);
  EXPECT_EQ(column_loop<int32_t>(BinaryRow::add, false, 7), nullptr);
}

// Long rows, of results that leave the caches.
TYPED_TEST(ColumnLoops, GiveWhatArraysGiveInLongRows) {
  for (const int64_t n : {1023, 2048, 2049})
    for (const bool left : {false, true})
      expect_each_with_its_own<TypeParam>(BinaryRow::subtract, left, 520, n, false);
}

// A row that all of a column meet, an outer sum.
TYPED_TEST(ColumnLoops, MeetOneRowAgain) {
  constexpr int64_t kRows = 50, kWidth = 35;
  std::mt19937_64 random(kSeed);
  std::vector<TypeParam> line = some_numbers<TypeParam>(kWidth, random),
                         column = some_numbers<TypeParam>(kRows, random), y(kRows * kWidth);
  const Shape of_line{kWidth}, of_column{kRows, 1}, whole{kRows, kWidth};
  NoResources resources;
  KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
  constexpr DType kType = dtype_of<TypeParam>;
  run_binary(BinaryRow::subtract, {line.data(), &of_line, kType},
             {column.data(), &of_column, kType}, {y.data(), &whole, kType}, context);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const TypeParam *a = &line[i % kWidth], *b = &column[i / kWidth];
    TypeParam want;
    of_arrays(BinaryRow::subtract, a, b, &want, 1);
    ASSERT_TRUE(are_alike(y[i], want)) << "at " << i;
  }
}

// A number for each channel of each image: columns that come again.
TYPED_TEST(ColumnLoops, MeetChannelsOfImages) {
  constexpr int64_t kImages = 3, kChannels = 5;
  NoResources resources;
  KernelContext context({}, {}, Device::cpu(), nullptr, false, resources);
  constexpr DType kType = dtype_of<TypeParam>;
  for (const int64_t n : {7, 33, 64, 130}) {
    for (const bool left : {false, true}) {
      std::mt19937_64 random(kSeed);
      const auto images = some_numbers<TypeParam>(kImages * kChannels * n, random),
                 channels = some_numbers<TypeParam>(kChannels, random);
      std::vector<TypeParam> spread(images.size()), want(images.size()), y(images.size());
      for (std::size_t i = 0; i < spread.size(); ++i)
        spread[i] = channels[i / static_cast<std::size_t>(n) % kChannels];
      of_arrays(BinaryRow::subtract, (left ? spread : images).data(),
                (left ? images : spread).data(), want.data(), kImages * kChannels * n);
      const Shape whole{kImages, kChannels, n}, one{kChannels, 1};
      const Tensor a{const_cast<TypeParam*>(images.data()), &whole, kType},
          b{const_cast<TypeParam*>(channels.data()), &one, kType};
      run_binary(BinaryRow::subtract, left ? b : a, left ? a : b, {y.data(), &whole, kType},
                 context);
      for (std::size_t i = 0; i < y.size(); ++i)
        ASSERT_TRUE(are_alike(y[i], want[i])) << "width " << n << ", left " << left << ", at " << i;
    }
  }
}

}  // namespace
}  // namespace mxnet
