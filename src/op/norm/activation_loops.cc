// SPDX-License-Identifier: Apache-2.0
// Compiles the activation rows for each instruction set.
#include "op/norm/activation_loops.h"

#include "base/simd.h"
#include "op/vector_math.h"

namespace mxnet {
namespace {

using row_math::erf, row_math::exp, row_math::expm1, row_math::log1p, row_math::sigmoid,
    row_math::tanh;

// Both are evaluated.
template <class T>
constexpr T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class T>
constexpr T absolute(T x) {
  return x < T(0) ? -x : x;
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
