// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of Winograd convolutions for each instruction set.
#include "op/nn/winograd_loops.h"

#include <utility>

#include "base/error.h"

#include "op/nn/winograd_points.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/nn/winograd_loops.inc"
#include "base/simd_targets.h"
#undef MX_SIMD_FILE

}  // namespace

const WinogradLoops& winograd_loops(WinogradConv::Isa isa) {
#if defined(__x86_64__)
  if (isa == WinogradConv::Isa::kAvx512) return simd_v4::kLoops;
  if (isa == WinogradConv::Isa::kAvx2) return simd_v3::kLoops;
#endif
  MX_ASSERT(WinogradConv::has(isa));
  return simd_v2::kLoops;
}

}  // namespace mxnet
