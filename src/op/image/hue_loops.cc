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

template <class C>
void turn_hues(const ChangeHue& change, const C* x, C* y, int64_t count) {
  MX_SIMD_CALL(turn_hues<C>)(change, x, y, count);
}

template void turn_hues(const ChangeHue&, const float*, float*, int64_t);
template void turn_hues(const ChangeHue&, const double*, double*, int64_t);

}  // namespace mxnet::image
