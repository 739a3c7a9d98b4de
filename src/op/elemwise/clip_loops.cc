// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of clip, hard_sigmoid, smooth_l1 and nan_to_num for each instruction set.
#include "op/elemwise/clip_loops.h"

#include <bit>
#include <limits>
#include <type_traits>

#include "base/simd.h"
#include "op/elemwise/parametric_functions.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/elemwise/clip_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
ClipLoops<T> clip_loops() {
  ClipLoops<T> loops{MX_SIMD_CALL_FOR_TRAFFIC(clip<T>), MX_SIMD_CALL_FOR_TRAFFIC(slope<T>), nullptr,
                     simd_v2::smooth<T>, simd_v2::smooth_slope<T>};
  if constexpr (std::is_floating_point_v<T>) loops.line = MX_SIMD_CALL_FOR_TRAFFIC(line<T>);
  if constexpr (std::is_same_v<T, float>) {  // other types are rare, and it is code
    loops.smooth = MX_SIMD_CALL_FOR_TRAFFIC(smooth<T>);
    loops.smooth_slope = MX_SIMD_CALL_FOR_TRAFFIC(smooth_slope<T>);
  }
  return loops;
}

template <class T>
FiniteLoop<T> finite_loop() {
  return MX_SIMD_CALL_FOR_TRAFFIC(finite<T>);
}

template ClipLoops<float> clip_loops();
template ClipLoops<double> clip_loops();
template ClipLoops<int8_t> clip_loops();
template ClipLoops<uint8_t> clip_loops();
template ClipLoops<int32_t> clip_loops();
template ClipLoops<int64_t> clip_loops();
template FiniteLoop<float> finite_loop();
template FiniteLoop<double> finite_loop();
template FiniteLoop<float16> finite_loop();
template FiniteLoop<bfloat16> finite_loop();

}  // namespace mxnet
