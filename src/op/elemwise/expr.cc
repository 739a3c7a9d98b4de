// SPDX-License-Identifier: Apache-2.0
// Arithmetic of Expr: constants fold, a constant beside a value becomes a scalar operator.
#include "op/elemwise/expr.h"

#include <cmath>

#include "op/rows/row_math.h"

namespace mxnet {
namespace {

Expr scalar_call(const char* op, const Value& a, double scalar) {
  return Expr(apply(op, {a}, {{"scalar", scalar_text(scalar)}}));
}

// Both may be constants (folded), one (a scalar operator), or none (a broadcasting operator, which
// equal shapes cost nothing).
Expr binary(double (*fold)(double, double), const Expr& a, const Expr& b, const char* arrays,
            const char* right_scalar, const char* left_scalar) {
  if (a.is_constant() && b.is_constant()) return Expr(fold(a.constant(), b.constant()));
  if (b.is_constant()) return scalar_call(right_scalar, a.value(), b.constant());
  if (a.is_constant()) return scalar_call(left_scalar, b.value(), a.constant());
  return Expr(apply(arrays, {a.value(), b.value()}));
}

}  // namespace

Expr operator+(const Expr& a, const Expr& b) {
  return binary([](double x, double y) { return x + y; }, a, b, "broadcast_add", "_plus_scalar",
                "_plus_scalar");
}
Expr operator-(const Expr& a, const Expr& b) {
  return binary([](double x, double y) { return x - y; }, a, b, "broadcast_sub", "_minus_scalar",
                "_rminus_scalar");
}
Expr operator*(const Expr& a, const Expr& b) {
  // Slopes of one are common: they cost nothing.
  if (a.is_constant() && a.constant() == 1.0) return b;
  if (b.is_constant() && b.constant() == 1.0) return a;
  return binary([](double x, double y) { return x * y; }, a, b, "broadcast_mul", "_mul_scalar",
                "_mul_scalar");
}
Expr operator/(const Expr& a, const Expr& b) {
  return binary([](double x, double y) { return x / y; }, a, b, "broadcast_div", "_div_scalar",
                "_rdiv_scalar");
}
Expr power(const Expr& a, const Expr& b) {
  if (b.is_constant() && b.constant() == 1.0) return a;  // slopes of squares
  return binary([](double x, double y) { return std::pow(x, y); }, a, b, "broadcast_power",
                "_power_scalar", "_rpower_scalar");
}
Expr hypotenuse(const Expr& a, const Expr& b) {
  return binary([](double x, double y) { return std::hypot(x, y); }, a, b, "broadcast_hypot",
                "_hypot_scalar", "_hypot_scalar");
}
Expr operator<(const Expr& a, const Expr& b) {
  return binary([](double x, double y) { return x < y ? 1.0 : 0.0; }, a, b, "broadcast_lesser",
                "_lesser_scalar", "_greater_scalar");
}
Expr operator>(const Expr& a, const Expr& b) { return b < a; }
Expr operator<=(const Expr& a, const Expr& b) {
  return binary([](double x, double y) { return x <= y ? 1.0 : 0.0; }, a, b,
                "broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar");
}
Expr operator>=(const Expr& a, const Expr& b) { return b <= a; }
Expr operator!=(const Expr& a, const Expr& b) {
  return binary([](double x, double y) { return x != y ? 1.0 : 0.0; }, a, b, "broadcast_not_equal",
                "_not_equal_scalar", "_not_equal_scalar");
}
Expr operator-(const Expr& a) { return a.is_constant() ? Expr(-a.constant()) : Expr(-a.value()); }

Expr select(const Expr& condition, const Expr& yes, const Expr& no) {
  // A condition is 0 or 1: of two numbers (slopes have whole ones) it is a step from one to the
  // other.
  if (yes.is_constant() && no.is_constant()) {
    const Expr step = condition * Expr(yes.constant() - no.constant());
    return no.constant() == 0.0 ? step : step + no;
  }
  return condition * yes + (Expr(1.0) - condition) * no;
}

#define MX_EXPR_DEFINE(function, op)                                \
  Expr function(const Expr& x) {                                    \
    return x.is_constant() ? Expr(row_math::function(x.constant())) \
                           : Expr(apply(op, {x.value()}));          \
  }
MX_EXPR_FUNCTIONS(MX_EXPR_DEFINE)
#undef MX_EXPR_DEFINE

// The slope of gammaln, as the kernel computes it: it has none itself.
Expr digamma(const Expr& x) {
  return Expr(apply("_backward_gammaln", {apply("ones_like", {x.value()}), x.value()}));
}

}  // namespace mxnet
