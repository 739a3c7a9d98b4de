// SPDX-License-Identifier: Apache-2.0
// Compiles the gradient of maxima in blocks for each instruction set.
#include "op/nn/pooling_blocks.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/nn/pooling_blocks.inc"
#include "base/simd_targets.h"
#undef MX_SIMD_FILE

}  // namespace

int pool_block() { return *MX_SIMD_CALL(kLanes); }

void pool_to_first_of_block(const BlockWindows& windows, const float* image, const float* dmap,
                            float* dimage) {
  MX_SIMD_CALL(to_first)(windows, image, dmap, dimage);
}

}  // namespace mxnet
