// SPDX-License-Identifier: Apache-2.0
// Rows evaluated on graphs: an Expr is a number or a Value, with the operators and functions that
// slopes are written in. Used only where a derivative will be differentiated again; kernels use
// numbers.
#pragma once
#include "op/grad.h"

namespace mxnet {

class Expr {
 public:
  explicit Expr(double constant) : constant_(constant) {}
  explicit Expr(Value value) : value_(std::move(value)) {}
  bool is_constant() const { return !value_; }
  double constant() const { return constant_; }
  const Value& value() const { return value_; }

 private:
  double constant_ = 0.0;
  Value value_;
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
// 1 where true, 0 elsewhere.
Expr operator<(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr operator!=(const Expr& a, const Expr& b);
Expr power(const Expr& a, const Expr& b);
Expr hypotenuse(const Expr& a, const Expr& b);
Expr select(const Expr& condition, const Expr& yes, const Expr& no);

// clang-format off
#define MX_EXPR_FUNCTIONS(F) \
  F(exp, "exp") F(log, "log") F(sqrt, "sqrt") F(cbrt, "cbrt") F(sin, "sin") F(cos, "cos") F(sinh, "sinh") \
  F(cosh, "cosh") F(absolute, "abs") F(sign, "sign") F(gamma, "gamma") F(round_down, "floor")
// clang-format on
#define MX_EXPR_DECLARE(function, op) Expr function(const Expr& x);
MX_EXPR_FUNCTIONS(MX_EXPR_DECLARE)
#undef MX_EXPR_DECLARE
// Has no gradient itself.
Expr digamma(const Expr& x);

}  // namespace mxnet
