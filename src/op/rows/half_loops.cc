// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of arithmetic on half types for each instruction set.
#include "op/rows/half_loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/rows/half_loops.inc"
#include "base/simd_targets.h"

}  // namespace

// Those of float16 and of bits would be the same instructions with AVX-512.
template <class T>
BinaryLoop<T, T> half_loop(BinaryRow row) {
  const bool wide = std::is_same_v<T, bfloat16> && row != BinaryRow::copysign;
  return MX_SIMD_AT(wide ? simd_level() : std::min(simd_level(), 1), half_loops<T>)(row);
}
template BinaryLoop<float16, float16> half_loop(BinaryRow);
template BinaryLoop<bfloat16, bfloat16> half_loop(BinaryRow);

}  // namespace mxnet
