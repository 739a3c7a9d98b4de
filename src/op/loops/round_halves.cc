// SPDX-License-Identifier: Apache-2.0
// Compiles the loop for each instruction set that converts halves.
#include "op/loops/round_halves.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/loops/round_halves.inc"
#include "base/simd_wide_targets.h"

}  // namespace

bool rounds_halves() { return simd_level() > 0; }

template <class T>
void round_halves(const T* in, T* out, int64_t n) {
  // (Registers of 512 bits would be the same instructions.)
  MX_SIMD_WIDE_AT(std::min(simd_level(), 1), round_all<T>)(in, out, n);
}

template void round_halves(const float16*, float16*, int64_t);
template void round_halves(const bfloat16*, bfloat16*, int64_t);

}  // namespace mxnet
