// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of Winograd convolutions for AVX2 and AVX-512.
#include "op/nn/winograd_loops.h"

#include <utility>

#include "base/error.h"
#include "base/simd.h"

#include "op/nn/winograd_blocks.h"
#include "op/nn/winograd_points.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/nn/winograd_loops.inc"
#include "base/simd_wide_targets.h"
#undef MX_SIMD_FILE

}  // namespace

const WinogradLoops* winograd_loops(WinogradConv::Isa isa) {
  MX_ASSERT(WinogradConv::has(isa));
  return MX_SIMD_WIDE_AT(static_cast<int>(isa), kLoops);
}

}  // namespace mxnet
