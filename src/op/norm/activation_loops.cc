// SPDX-License-Identifier: Apache-2.0
// Compiles the activation rows for each instruction set.
#include "op/norm/activation_loops.h"

#include <algorithm>
#include <type_traits>

#include "base/simd.h"
#include "op/math/vector_math.h"
#include "op/rows/unary_loops.h"

namespace mxnet {
namespace {

using row_math::exp, row_math::exp_moderate, row_math::expm1, row_math::normal_below,
    row_math::sigmoid, row_math::tanh;

// Both are evaluated.
template <class T>
constexpr T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class T>
constexpr T absolute(T x) {
  return x < T(0) ? -x : x;
}

// What the rows ask for lies between zero and one, or is NaN: twice the series of the area tangent
// of x / (2 + x) needs no split of a number and no correction.
[[gnu::always_inline]] inline float log1p(float x) {
  constexpr float kSeries[] = {0.08333333415f, 0.01249990823f, 0.002233777968f, 0.0004239565586f,
                               0.000113400045f};
  const float t = (x + x) / (2.0f + x), z = t * t;
  return t + t * z * row_math::polynomial(kSeries, z);
}
[[gnu::always_inline]] inline double log1p(double x) { return row_math::log1p(x); }

// x times the density of the normal distribution, which is less than 1e-30 from 12.
template <class T>
[[gnu::always_inline]] inline T weighted_density(T x) {
  constexpr T kEnd = 12;
  const T b = x < -kEnd ? -kEnd : x > kEnd ? kEnd : x;
  return b * (T(kNormal) * exp_moderate(T(-0.5) * b * b));
}

// Rows whose values come from the loops of op/elemwise, below. Softrelu of float does so only where
// those have functions for registers of 64 bytes.
template <class T>
constexpr bool is_composed(ActivationRow row, bool widest) {
  return row == ActivationRow::sigmoid || row == ActivationRow::tanh ||
         (row == ActivationRow::softrelu && (widest || std::is_same_v<T, double>));
}

// Rows whose slopes below zero are powers of e: those come from there, too.
constexpr bool is_power_of_e(ActivationRow row) {
  return row == ActivationRow::elu || row == ActivationRow::selu;
}

#define MX_SIMD_FILE "op/norm/activation_loops.inc"
#include "base/simd_targets.h"

// Rows that are functions of their own, too: the loops of those use more of the processor.
template <UnaryRow kRow, class T>
void unary_value(const T* x, T* y, int64_t n, T) {
  unary_loop<T>(kRow).value(x, y, n);
}
template <class T>
void softrelu_value(const T* x, T* y, int64_t n, T) {
  constexpr int64_t kBlock = 256;  // of x too, which may lie where y does
  T part[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
#pragma omp simd
    for (int64_t k = 0; k < m; ++k) part[k] = -absolute(x[i + k]);
    unary_loop<T>(UnaryRow::exp).value(part, part, m);
    unary_loop<T>(UnaryRow::log1p).value(part, part, m);
#pragma omp simd
    for (int64_t k = 0; k < m; ++k) y[i + k] = select(x[i + k] > T(0), x[i + k], T(0)) + part[k];
  }
}

}  // namespace

ActivationUses activation_uses(ActivationRow row) {
#define MX_ACTIVATION_USES(name, value, slope, uses) ActivationUses::uses,
  static constexpr ActivationUses kUses[] = {MX_ACTIVATION_ROWS(MX_ACTIVATION_USES)};
#undef MX_ACTIVATION_USES
  return kUses[static_cast<int>(row)];
}

template <class T>
ActivationLoop<T> activation_loop(ActivationRow row) {
  ActivationLoop<T> loop = MX_SIMD_CALL(activation_entry<T>)(static_cast<int>(row));
  if (row == ActivationRow::sigmoid) loop.value = unary_value<UnaryRow::sigmoid, T>;
  if (row == ActivationRow::tanh) loop.value = unary_value<UnaryRow::tanh, T>;
  if (row == ActivationRow::softrelu && is_composed<T>(row, simd_level() == 2))
    loop.value = softrelu_value<T>;
  return loop;
}

template ActivationLoop<float> activation_loop(ActivationRow);
template ActivationLoop<double> activation_loop(ActivationRow);

}  // namespace mxnet
