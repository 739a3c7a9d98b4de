// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the binary rows for each instruction set.
#include "op/rows/binary_loops.h"

#include <cmath>
#include <concepts>
#include <limits>

#include "base/half.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/math/erf_pieces.h"
#include "op/rows/row_math.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12's own intrinsics, not ours

namespace mxnet {
namespace {

using namespace row_math;  // NOLINT(google-build-using-namespace): rows are written in its words

#define MX_SIMD_FILE "op/rows/binary_loops.inc"
#include "base/simd_targets.h"

}  // namespace

// Rows of an instruction or two.
constexpr bool waits_for_memory(BinaryRow row) {
  return row <= BinaryRow::multiply || row == BinaryRow::maximum || row == BinaryRow::minimum ||
         is_comparison(row);
}

// A template argument list with a comma cannot stand in a macro's argument.
#define MX_LOOPS binary_loop<T, Out>
template <class T, class Out>
BinaryLoop<T, Out> binary_loop(BinaryRow row) {
  using Loops = BinaryLoop<T, Out> (*)(int);
  // (A result of bool is narrowed by one instruction of AVX-512, and little is written.)
  const Loops loops = waits_for_memory(row) && !std::is_same_v<Out, bool>
                          ? MX_SIMD_CALL_FOR_TRAFFIC(MX_LOOPS)
                          : MX_SIMD_CALL(MX_LOOPS);
  return loops(static_cast<int>(row));
}
template <class T>
HalfPowers<T> half_powers(float exponent) {
  return MX_SIMD_CALL(half_powers<T>)(exponent);
}
template <class T>
BinarySlope<T> binary_slope(BinaryRow row, bool left) {
  return MX_SIMD_CALL(binary_slope<T>)(static_cast<int>(row), left);
}

#define MX_INSTANTIATE(T)                           \
  template BinaryLoop<T, T> binary_loop(BinaryRow); \
  template BinaryLoop<T, bool> binary_loop(BinaryRow);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
MX_INSTANTIATE(int8_t)
MX_INSTANTIATE(uint8_t)
MX_INSTANTIATE(int32_t)
MX_INSTANTIATE(int64_t)
template HalfPowers<float16> half_powers(float);
template HalfPowers<bfloat16> half_powers(float);
template BinarySlope<float> binary_slope(BinaryRow, bool);
template BinarySlope<double> binary_slope(BinaryRow, bool);

}  // namespace mxnet
