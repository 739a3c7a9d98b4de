// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of clip for each instruction set.
#include "op/elemwise/clip_loops.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/elemwise/clip_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
ClipLoops<T> clip_loops() {
  return {MX_SIMD_CALL_FOR_TRAFFIC(clip<T>), MX_SIMD_CALL_FOR_TRAFFIC(slope<T>)};
}

template ClipLoops<float> clip_loops();
template ClipLoops<double> clip_loops();
template ClipLoops<int8_t> clip_loops();
template ClipLoops<uint8_t> clip_loops();
template ClipLoops<int32_t> clip_loops();
template ClipLoops<int64_t> clip_loops();

}  // namespace mxnet
