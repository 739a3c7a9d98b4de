// SPDX-License-Identifier: Apache-2.0
// The compiled loops of the binary rows, one table for each instruction set.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

#include "op/rows/binary_rows.h"

namespace mxnet {

// Positions in the tables: the order of the rows.
enum class BinaryRow : int {
#define MX_ROW_ID(name, ...) name,
  MX_BINARY_ROWS(MX_ROW_ID) MX_INTEGER_ROWS(MX_ROW_ID) MX_COMPARE_ROWS(MX_ROW_ID)
#undef MX_ROW_ID
};
#define MX_ROW_COUNT(...) +1
constexpr int kBinaryRows =
    0 MX_BINARY_ROWS(MX_ROW_COUNT) MX_INTEGER_ROWS(MX_ROW_COUNT) MX_COMPARE_ROWS(MX_ROW_COUNT);
#undef MX_ROW_COUNT
constexpr bool is_comparison(BinaryRow row) { return row >= BinaryRow::equal; }
constexpr bool is_integer_only(BinaryRow row) {
  return row >= BinaryRow::bitwise_and && row < BinaryRow::equal;
}
constexpr bool has_slope(BinaryRow row) { return row < BinaryRow::bitwise_and; }

// Rows of which bytes have no loops: they are computed as int32, whose low bits are theirs.
constexpr bool has_no_byte_loop(BinaryRow row) {
  return row == BinaryRow::power || row == BinaryRow::arctan2 || row == BinaryRow::ldexp ||
         row == BinaryRow::lcm;
}

// Calls fn with each row, as a constant; true, so that it can initialize what registers them.
template <class F>
bool for_each_row(const F& fn) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    (fn(std::integral_constant<BinaryRow, BinaryRow{i}>{}), ...);
    return true;
  }
  (std::make_integer_sequence<int, kBinaryRows>{});
}

// Both arrays, or one of them a single element that meets every element of the other.
template <class T, class Out>
struct BinaryLoop {
  void (*arrays)(const T* a, const T* b, Out* y, int64_t n);
  void (*right_scalar)(const T* a, const T* b, Out* y, int64_t n);
  void (*left_scalar)(const T* a, const T* b, Out* y, int64_t n);
};

// Out is T, or bool for comparisons. Null where has_no_byte_loop.
template <class T, class Out>
BinaryLoop<T, Out> binary_loop(BinaryRow row);

// Powers of float16 or bfloat16 to one exponent (*b), whose numbers stay in registers; null for
// exponents other than 2, 3, -1, -2 and a half of either sign, and for processors without AVX-512.
template <class T>
using HalfPowers = void (*)(const T* a, const T* b, T* y, int64_t n);
template <class T>
HalfPowers<T> half_powers(float exponent);

// dx = dy * slope, for the left or the right argument; floating types.
template <class T>
using BinarySlope = void (*)(const T* dy, const T* a, const T* b, T* dx, int64_t n);
template <class T>
BinarySlope<T> binary_slope(BinaryRow row, bool left);

}  // namespace mxnet
