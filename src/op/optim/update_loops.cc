// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the update rules for each instruction set.
#include "op/optim/update_loops.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/optim/update_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class T>
UpdateLoop<T> update_loop(UpdateRule rule) {
  return MX_SIMD_CALL(update_loop<T>)(rule);
}

template <class T>
double sum_squares(const T* values, int64_t n) {
  return MX_SIMD_CALL(sum_squares<T>)(values, n);
}

// float16 by AVX2 everywhere: those of AVX-512 would be the same instructions.
template <class T, class Half>
UpdateLoop<T, Half> half_update_loop(UpdateRule rule) {
  const int level = std::is_same_v<Half, float16> ? std::min(simd_level(), 1) : simd_level();
  return MX_SIMD_AT(level, half_update_loop<T, Half>)(rule);
}

template UpdateLoop<float> update_loop(UpdateRule);
template UpdateLoop<double> update_loop(UpdateRule);
template UpdateLoop<float16, float16> half_update_loop(UpdateRule);
template UpdateLoop<float, float16> half_update_loop(UpdateRule);
template UpdateLoop<bfloat16, bfloat16> half_update_loop(UpdateRule);
template UpdateLoop<float, bfloat16> half_update_loop(UpdateRule);
template double sum_squares(const float*, int64_t);
template double sum_squares(const double*, int64_t);

}  // namespace mxnet
