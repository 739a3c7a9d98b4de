// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of arithmetic on float16 for each instruction set.
#include "op/rows/half_loops.h"

#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/rows/half_loops.inc"
#include "base/simd_targets.h"

}  // namespace

BinaryLoop<float16, float16> half_loop(BinaryRow row) {
  return MX_SIMD_CALL_FOR_TRAFFIC(half_loops)(row);
}

}  // namespace mxnet
