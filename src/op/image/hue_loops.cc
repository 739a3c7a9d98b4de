// SPDX-License-Identifier: Apache-2.0
// Compiles the loop of hues for each instruction set, none of which may join a product and a sum:
// each step is rounded.
#include "op/image/hue_loops.h"

#include "base/simd.h"

namespace mxnet::image {
namespace {

#define MX_SIMD_FILE "op/image/hue_loops.inc"
#include "base/simd_targets.h"

}  // namespace

void turn_hues(const ChangeHue& change, const float* x, float* y, int64_t count) {
  MX_SIMD_CALL(turn_hues<float>)(change, x, y, count);
}
// Rare, and not worth the size of loops of wide sets.
void turn_hues(const ChangeHue& change, const double* x, double* y, int64_t count) {
  simd_v2::turn_hues<double>(change, x, y, count);
}

}  // namespace mxnet::image
