// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the unary rows for each instruction set.
#include "op/rows/unary_loops.h"

#include <array>
#include <concepts>
#include <iterator>
#include <limits>
#include <type_traits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/math/erf_pieces.h"
#include "op/rows/row_math.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

using namespace row_math;  // NOLINT(google-build-using-namespace): rows are written in its words

#define MX_SIMD_FILE "op/rows/unary_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
UnaryLoop<T> unary_loop(UnaryRow row) {
  // (Signs of eight bytes take compares that the narrower sets lack or have half as wide.)
  const bool few = row >= UnaryRow::abs || (std::is_integral_v<T> && row == UnaryRow::reciprocal);
  const bool waits = few && !(row == UnaryRow::sign && sizeof(T) == 8);
  const auto loops = waits ? MX_SIMD_CALL_FOR_TRAFFIC(unary_loop<T>) : MX_SIMD_CALL(unary_loop<T>);
  return loops(static_cast<int>(row));
}

template <class T>
HalfLoop<T> unary_half_loop(UnaryRow row) {
  if (const auto loop = MX_SIMD_CALL_FOR_TRAFFIC(half_bits_loop<T>)(row)) return loop;
  if (const auto loop = MX_SIMD_CALL(plain_half_loop<T>)(row)) return loop;
  if constexpr (std::is_same_v<T, float16>) return MX_SIMD_CALL(wide_half_loop<>)(row);
  return nullptr;
}

template HalfLoop<float16> unary_half_loop(UnaryRow);
template HalfLoop<bfloat16> unary_half_loop(UnaryRow);
template UnaryLoop<float> unary_loop(UnaryRow);
template UnaryLoop<double> unary_loop(UnaryRow);
template UnaryLoop<int8_t> unary_loop(UnaryRow);
template UnaryLoop<uint8_t> unary_loop(UnaryRow);
template UnaryLoop<int32_t> unary_loop(UnaryRow);
template UnaryLoop<int64_t> unary_loop(UnaryRow);

}  // namespace mxnet
