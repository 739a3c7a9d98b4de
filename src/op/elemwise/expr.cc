// SPDX-License-Identifier: Apache-2.0
// Arithmetic of Expr: constants fold, a constant beside a value becomes a scalar operator.
#include "op/elemwise/expr.h"

#include "base/error.h"

namespace mxnet {
namespace {

Expr scalar_call(const char* op, const Value& a, double scalar) {
  return Expr(apply(op, {a}, {{"scalar", scalar_text(scalar)}}));
}

}  // namespace

Expr operator+(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return Expr(a.constant() + b.constant());
  if (a.is_constant()) return Expr(b.value() + a.constant());
  return b.is_constant() ? Expr(a.value() + b.constant()) : Expr(a.value() + b.value());
}
Expr operator-(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return Expr(a.constant() - b.constant());
  if (a.is_constant()) return Expr(a.constant() - b.value());
  return b.is_constant() ? Expr(a.value() - b.constant()) : Expr(a.value() - b.value());
}
Expr operator*(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return Expr(a.constant() * b.constant());
  if (a.is_constant()) return Expr(b.value() * a.constant());
  return b.is_constant() ? Expr(a.value() * b.constant()) : Expr(a.value() * b.value());
}
Expr operator/(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return Expr(a.constant() / b.constant());
  if (a.is_constant()) return Expr(a.constant() / b.value());
  return b.is_constant() ? Expr(a.value() / b.constant()) : Expr(a.value() / b.value());
}
Expr operator-(const Expr& a) { return a.is_constant() ? Expr(-a.constant()) : Expr(-a.value()); }

Expr operator<(const Expr& a, const Expr& b) {
  MX_ASSERT(!a.is_constant());
  return b.is_constant() ? scalar_call("_lesser_scalar", a.value(), b.constant())
                         : Expr(apply("_lesser", {a.value(), b.value()}));
}
Expr operator>(const Expr& a, const Expr& b) {
  MX_ASSERT(!a.is_constant());
  return b.is_constant() ? scalar_call("_greater_scalar", a.value(), b.constant())
                         : Expr(apply("_greater", {a.value(), b.value()}));
}
Expr select(const Expr& condition, const Expr& yes, const Expr& no) {
  return condition * yes + (Expr(1.0) - condition) * no;
}

#define MX_EXPR_DEFINE(function, op) \
  Expr function(const Expr& x) { return Expr(apply(op, {x.value()})); }
MX_EXPR_FUNCTIONS(MX_EXPR_DEFINE)
#undef MX_EXPR_DEFINE

Expr digamma(const Expr&) {
  throw Error(ErrorCode::kNotImplemented, "gamma",
              "second derivatives of gamma and gammaln are not available");
}

}  // namespace mxnet
