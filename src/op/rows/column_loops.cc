// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set.
#include "op/rows/column_loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/half.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/rows/column_loops.inc"
#include "base/simd_wide_targets.h"

}  // namespace

// Of float16 the instructions of AVX-512 are no more numbers in a second.
template <class T>
ColumnLoop column_loop(BinaryRow row, bool left, int64_t n) {
  int level = simd_level_for_traffic();
  if (std::is_same_v<T, float16>) level = std::min(level, 1);
  const auto loop = MX_SIMD_WIDE_AT(level, column_loop<T>);
  return loop == nullptr ? nullptr : loop(row, left, n);
}

#define MX_INSTANTIATE(T) template ColumnLoop column_loop<T>(BinaryRow, bool, int64_t);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
MX_INSTANTIATE(float16)
MX_INSTANTIATE(bfloat16)
MX_INSTANTIATE(int8_t)
MX_INSTANTIATE(uint8_t)
MX_INSTANTIATE(int32_t)
MX_INSTANTIATE(int64_t)
#undef MX_INSTANTIATE

}  // namespace mxnet
