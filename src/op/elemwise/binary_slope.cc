// SPDX-License-Identifier: Apache-2.0
// The columns of the binary rows that are read outside of loops.
#include "op/elemwise/binary_slope.h"

namespace mxnet {

const char* row_doc(BinaryRow row) {
  static constexpr const char* kDocs[] = {
#define MX_ROW_DOC(name, doc, ...) doc,
      MX_BINARY_ROWS(MX_ROW_DOC) MX_INTEGER_ROWS(MX_ROW_DOC) MX_COMPARE_ROWS(MX_ROW_DOC)
#undef MX_ROW_DOC
  };
  return kDocs[static_cast<int>(row)];
}

Expr binary_slope_expr(BinaryRow row, bool left, const Expr& a, const Expr& b) {
  using T = Expr;
  switch (row) {
#define MX_SLOPE_CASE(name, doc, value, slope_a, slope_b) \
  case BinaryRow::name:                                   \
    return left ? (slope_a) : (slope_b);
    MX_BINARY_ROWS(MX_SLOPE_CASE)  // NOLINT(bugprone-branch-clone): rows may have equal slopes
#undef MX_SLOPE_CASE
    default:
      return T(0);
  }
}

bool has_fractions(BinaryRow row, bool left) {
  return row == BinaryRow::hypot || row == BinaryRow::ldexp || (row == BinaryRow::power && !left);
}

namespace {

// Integers become float64; others stay what they are.
Expr as_number(const Expr& x) {
  if (x.is_constant()) return x;
  return Expr(apply("_mul_scalar", {x.value()}, {{"scalar", "1"}, {"is_int", "False"}}));
}

}  // namespace

Value times_slope(BinaryRow row, bool left, const Grad& grad, const Expr& a, const Expr& b) {
  const Value dy = grad.dout(0);
  if (!grad.floating() && row == BinaryRow::mod) {
    // A half, which is 0 in integers.
    const Expr half(apply("ones_like", {dy}) * 0.5);
    return (Expr(dy) * (half + half) * binary_slope_expr(row, left, a, b)).value();
  }
  if (grad.floating() || !has_fractions(row, left))
    return (Expr(dy) * binary_slope_expr(row, left, a, b)).value();
  const Expr slope = binary_slope_expr(row, left, as_number(a), as_number(b));
  if (slope.is_constant()) return (Expr(dy) * slope).value();
  // The slope of ldexp in its left argument has the shape of the right one.
  return (Expr(dy) * Expr(apply("_cast_like", {slope.value(), dy}))).value();
}

}  // namespace mxnet
