// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of arithmetic on half types for each instruction set.
#include "op/rows/half_loops.h"

#include <algorithm>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/rows/half_loops.inc"
#include "base/simd_targets.h"

}  // namespace

// Those of AVX-512 would be the same instructions.
template <class T>
BinaryLoop<T, T> half_loop(BinaryRow row) {
  return MX_SIMD_AT(std::min(simd_level(), 1), half_loops<T>)(row);
}
template BinaryLoop<float16, float16> half_loop(BinaryRow);
template BinaryLoop<bfloat16, bfloat16> half_loop(BinaryRow);

}  // namespace mxnet
