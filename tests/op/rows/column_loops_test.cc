// SPDX-License-Identifier: Apache-2.0
// Matrices and columns of every width: as each number with its own, to the bit, whichever side the
// column is on, whatever is special about a number, in the place of the matrix and in parts.
#include "op/rows/column_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "no_resources.h"
#include "op/rows/binary_kernel.h"

namespace mxnet {
namespace {

constexpr uint64_t kSeed = 20261129;

// Zeros of both signs, infinities, NaN and numbers that are hardly any, among others.
template <class T>
std::vector<T> some_numbers(int64_t count, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0),
                       -T(0),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::denorm_min(),
                       Limits::max(),
                       T(1)};
  std::uniform_real_distribution<T> number(-2, 2);
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& x : numbers) x = random() % 4 == 0 ? special[random() % 8] : number(random);
  return numbers;
}

// The same bits; any NaN is as good as another.
template <class T>
bool are_alike(T a, T b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T>
void expect_each_with_its_own(BinaryRow row, bool left, int64_t rows, int64_t n, bool in_place) {
  std::mt19937_64 random(kSeed + static_cast<uint64_t>(n));
  const std::vector<T> matrix = some_numbers<T>(rows * n, random);
  std::vector<T> column = some_numbers<T>(rows, random), spread;
  for (const T x : column) spread.insert(spread.end(), static_cast<std::size_t>(n), x);
  const auto loop = binary_loop<T, T>(row).arrays;
  std::vector<T> want(matrix.size()), got = matrix, other(matrix.size());
  loop((left ? spread : matrix).data(), (left ? matrix : spread).data(), want.data(), rows * n);
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
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ColumnLoops, Types);

TYPED_TEST(ColumnLoops, GiveWhatArraysGive) {
  for (const BinaryRow row : {BinaryRow::add, BinaryRow::subtract, BinaryRow::multiply,
                              BinaryRow::divide, BinaryRow::maximum, BinaryRow::minimum}) {
    for (int64_t n = 2; n <= kLongestColumnRow + 1; n += n < 70 ? 1 : 83) {
      for (const bool left : {false, true})
        for (const bool in_place : {false, true})
          expect_each_with_its_own<TypeParam>(row, left, 7, n, in_place);
    }
  }
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
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_TRUE(are_alike(y[i], line[i % kWidth] - column[i / kWidth])) << "at " << i;
}

}  // namespace
}  // namespace mxnet
