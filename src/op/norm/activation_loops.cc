// SPDX-License-Identifier: Apache-2.0
// Compiles the activation rows for each instruction set.
#include "op/norm/activation_loops.h"

#include "base/simd.h"
#include "op/vector_math.h"

namespace mxnet {
namespace {

using row_math::exp, row_math::exp_moderate, row_math::expm1, row_math::log1p,
    row_math::normal_below, row_math::sigmoid, row_math::tanh;

// Both are evaluated.
template <class T>
constexpr T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class T>
constexpr T absolute(T x) {
  return x < T(0) ? -x : x;
}

// x times the density of the normal distribution, which is less than 1e-30 from 12.
template <class T>
[[gnu::always_inline]] inline T weighted_density(T x) {
  constexpr T kEnd = 12;
  const T b = x < -kEnd ? -kEnd : x > kEnd ? kEnd : x;
  return b * (T(kNormal) * exp_moderate(T(-0.5) * b * b));
}

#define MX_SIMD_FILE "op/norm/activation_loops.inc"
#include "base/simd_targets.h"

}  // namespace

ActivationUses activation_uses(ActivationRow row) {
#define MX_ACTIVATION_USES(name, value, slope, uses) ActivationUses::uses,
  static constexpr ActivationUses kUses[] = {MX_ACTIVATION_ROWS(MX_ACTIVATION_USES)};
#undef MX_ACTIVATION_USES
  return kUses[static_cast<int>(row)];
}

template <class T>
ActivationLoop<T> activation_loop(ActivationRow row) {
  return MX_SIMD_CALL(activation_entry<T>)(static_cast<int>(row));
}

template ActivationLoop<float> activation_loop(ActivationRow);
template ActivationLoop<double> activation_loop(ActivationRow);

}  // namespace mxnet
