// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one argument: adding one is adding a row. `x` is the argument, `y` the
// result, T float or double (or, in a slope, Expr: see expr.h). The columns: name, aliases, doc,
// value, slope dy/dx, and which of x and y the slope needs (kX, kY).
#pragma once

// clang-format off
// Computed in float or double; integers are converted to double and back.
#define MX_UNARY_ROWS(ROW) \
  ROW(arccos,     ("_sparse_arccos"), "Inverse cosine, in [0, pi].", acos(x), -T(1) / sqrt((T(1) - x) * (x + T(1))), kX) \
  ROW(arccosh,    ("_sparse_arccosh"), "Inverse hyperbolic cosine.", acosh(x), T(1) / sqrt((x - T(1)) * (x + T(1))), kX) \
  ROW(arcsin,     ("_sparse_arcsin"), "Inverse sine, in [-pi/2, pi/2].", asin(x), T(1) / sqrt((T(1) - x) * (x + T(1))), kX) \
  ROW(arcsinh,    ("_sparse_arcsinh"), "Inverse hyperbolic sine.", asinh(x), T(1) / sqrt(x * x + T(1)), kX) \
  ROW(arctan,     ("_sparse_arctan"), "Inverse tangent, in [-pi/2, pi/2].", atan(x), T(1) / (x * x + T(1)), kX) \
  ROW(arctanh,    ("_sparse_arctanh"), "Inverse hyperbolic tangent.", atanh(x), T(1) / ((T(1) - x) * (x + T(1))), kX) \
  ROW(cbrt,       ("_sparse_cbrt"), "Cube root.", cbrt(x), T(1) / (T(3) * y) / y, kY) \
  ROW(cos,        ("_sparse_cos"), "Cosine of radians.", cos(x), -sin(x), kX) \
  ROW(cosh,       ("_sparse_cosh"), "Hyperbolic cosine.", cosh(x), sinh(x), kX) \
  ROW(degrees,    ("_sparse_degrees"), "Radians to degrees.", x * T(57.295779513082320877), T(57.295779513082320877), kX) \
  ROW(erf,        ("_npx_erf"), "Error function.", erf(x), T(1.1283791670955125739) * exp(-(x * x)), kX) \
  ROW(erfinv,     ("_npx_erfinv"), "Inverse of the error function.", erfinv(x), T(0.88622692545275801365) * exp(y * y), kY) \
  ROW(exp,        ("_sparse_exp"), "Exponential.", exp(x), y, kY) \
  ROW(expm1,      ("_sparse_expm1"), "exp(x) - 1, exact near zero.", expm1(x), exp(x), kX) \
  ROW(gamma,      ("_npx_gamma", "_sparse_gamma"), "Gamma function.", gamma(x), gamma(x) * digamma(x), kX) \
  ROW(gammaln,    ("_npx_gammaln", "_sparse_gammaln"), "Logarithm of the absolute value of the gamma function.", lgamma(x), digamma(x), kX) \
  ROW(log,        ("_sparse_log"), "Natural logarithm.", log(x), T(1) / x, kX) \
  ROW(log10,      ("_sparse_log10"), "Logarithm to base 10.", log10(x), T(0.43429448190325182765) / x, kX) \
  ROW(log1p,      ("_sparse_log1p"), "log(1 + x), exact near zero.", log1p(x), T(1) / (x + T(1)), kX) \
  ROW(log2,       ("_sparse_log2"), "Logarithm to base 2.", log2(x), T(1.44269504088896340736) / x, kX) \
  ROW(radians,    ("_sparse_radians"), "Degrees to radians.", x * T(0.01745329251994329577), T(0.01745329251994329577), kX) \
  ROW(rcbrt,      (), "1 / cube root.", T(1) / cbrt(x), T(-1) / (T(3) * x) / cbrt(x), kX) \
  ROW(reciprocal, (), "1 / x.", T(1) / x, T(-1) / x / x, kX) \
  ROW(rsqrt,      ("_sparse_rsqrt"), "1 / square root.", T(1) / sqrt(x), T(-0.5) / x / sqrt(x), kX) \
  ROW(sigmoid,    ("_sparse_sigmoid"), "1 / (1 + exp(-x)).", sigmoid(x), y * (T(1) - y), kY) \
  ROW(sin,        ("_sparse_sin"), "Sine of radians.", sin(x), cos(x), kX) \
  ROW(sinh,       ("_sparse_sinh"), "Hyperbolic sine.", sinh(x), cosh(x), kX) \
  ROW(softsign,   (), "x / (1 + |x|).", x / (T(1) + absolute(x)), T(1) / ((T(1) + absolute(x)) * (T(1) + absolute(x))), kX) \
  ROW(sqrt,       ("_sparse_sqrt"), "Square root.", sqrt(x), T(0.5) / y, kY) \
  ROW(tan,        ("_sparse_tan"), "Tangent of radians.", tan(x), y * y + T(1), kY) \
  ROW(tanh,       ("_sparse_tanh"), "Hyperbolic tangent.", tanh(x), T(1) - y * y, kY)
// clang-format on

// clang-format off
// Computed in the type itself, integers exactly.
#define MX_UNARY_EXACT_ROWS(ROW) \
  ROW(abs,      ("_sparse_abs"), "Absolute value.", absolute(x), sign(x), kX) \
  ROW(ceil,     ("_sparse_ceil"), "Smallest integer that is not below x.", round_up(x), T(0), kX) \
  ROW(fix,      ("_sparse_fix"), "Nearest integer towards zero.", toward_zero(x), T(0), kX) \
  ROW(floor,    ("_sparse_floor"), "Largest integer that is not above x.", round_down(x), T(0), kX) \
  ROW(negative, ("_sparse_negative"), "-x.", negate(x), T(-1), kX) \
  ROW(relu,     ("_sparse_relu"), "max(x, 0); NaN stays NaN.", select(x < T(0), T(0), x), select(x > T(0), T(1), T(0)), kX) \
  ROW(rint,     ("_sparse_rint"), "Nearest integer, ties downwards.", round_ties_down(x), T(0), kX) \
  ROW(round,    ("_sparse_round"), "Nearest integer, ties away from zero.", round_away(x), T(0), kX) \
  ROW(sign,     ("_sparse_sign"), "-1, 0 or 1.", sign(x), T(0), kX) \
  ROW(square,   ("_sparse_square"), "x * x.", multiply(x, x), T(2) * x, kX) \
  ROW(trunc,    ("_sparse_trunc"), "Nearest integer towards zero.", toward_zero(x), T(0), kX)
// clang-format on
