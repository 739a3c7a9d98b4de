// SPDX-License-Identifier: Apache-2.0
// Activation functions as rows, each with its slope; compiled for each instruction set.
#pragma once
#include <cstdint>

namespace mxnet {

// Words: x, the argument; y, the result; s, the parameter "slope"; T, the type; select(condition,
// yes, no), of which both sides are computed. Slopes of rows marked kY use y and s only, so that
// the argument's memory is free; the others use x and s.
//  ROW(name, value, slope, uses)
// clang-format off
#define MX_ACTIVATION_ROWS(ROW) \
  ROW(relu,     select(x < T(0), T(0), x), select(y > T(0), T(1), T(0)), kY) \
  ROW(sigmoid,  sigmoid(x), y * (T(1) - y), kY) \
  ROW(tanh,     tanh(x), T(1) - y * y, kY) \
  ROW(softrelu, (x > T(0) ? x : T(0)) + log1p(exp(-absolute(x))), -expm1(-y), kY) \
  ROW(softsign, x / (T(1) + absolute(x)), T(1) / ((T(1) + absolute(x)) * (T(1) + absolute(x))), kX) \
  ROW(leaky,    select(x > T(0), x, s * x), select(x > T(0), T(1), s), kX) \
  ROW(elu,      select(x > T(0), x, s * expm1(x)), select(x > T(0), T(1), s * exp(x)), kX) \
  ROW(selu,     T(kSeluScale) * select(x > T(0), x, T(kSeluAlpha) * expm1(x)), \
                T(kSeluScale) * select(x > T(0), T(1), T(kSeluAlpha) * exp(x)), kX) \
  ROW(gelu,     x * normal_below(x), normal_below(x) + weighted_density(x), kX)
// clang-format on

// Klambauer et al. 2017.
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
inline constexpr double kRootHalf = 0.70710678118654752440;  // sqrt(1 / 2)
inline constexpr double kNormal = 0.39894228040143267794;    // 1 / sqrt(2 pi)

enum class ActivationRow : uint8_t {
#define MX_ACTIVATION_ID(name, ...) name,
  MX_ACTIVATION_ROWS(MX_ACTIVATION_ID)
#undef MX_ACTIVATION_ID
};

enum class ActivationUses : uint8_t { kX, kY };
ActivationUses activation_uses(ActivationRow row);

template <class T>
struct ActivationLoop {
  void (*value)(const T* x, T* y, int64_t n, T s);
  // dx = dy * slope; `arg` is x or y, as the row says.
  void (*slope)(const T* dy, const T* arg, T* dx, int64_t n, T s);
};

// T is float or double.
template <class T>
ActivationLoop<T> activation_loop(ActivationRow row);

}  // namespace mxnet
