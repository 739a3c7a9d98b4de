// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of two arguments: adding one is adding a row. `a` and `b` are the
// arguments, `y` the result, T their common type (or, in slopes, Expr). From each row come the
// operators on equal shapes, on broadcast shapes and with a scalar on either side; the names table
// (binary_names.h) says what they are called.
#pragma once

// clang-format off
//      name      doc                                    value                 dy/da                                dy/db
#define MX_BINARY_ROWS(ROW) \
  ROW(add,      "a + b.",                              plus(a, b),           T(1),                                T(1)) \
  ROW(subtract, "a - b.",                              minus(a, b),          T(1),                                T(-1)) \
  ROW(multiply, "a * b.",                              multiply(a, b),       b,                                   a) \
  ROW(divide,   "a / b; integers truncate.",           quotient(a, b),       T(1) / b,                            -(a / b / b)) \
  ROW(mod,      "Remainder with the sign of b.",       modulo(a, b),         T(1),                                -round_down(a / b)) \
  ROW(power,    "a to the power of b.",                power(a, b),          b * power(a, b - T(1)),              power(a, b) * log(a)) \
  ROW(maximum,  "The larger one; a where they tie.",   larger(a, b),         select(a >= b, T(1), T(0)),          select(a < b, T(1), T(0))) \
  ROW(minimum,  "The smaller one; a where they tie.",  smaller(a, b),        select(a <= b, T(1), T(0)),          select(a > b, T(1), T(0))) \
  ROW(hypot,    "sqrt(a * a + b * b).",                hypotenuse(a, b),     a / hypotenuse(a, b),                b / hypotenuse(a, b)) \
  ROW(arctan2,  "Angle of the point (b, a).",          arc_tangent(a, b),    b / (a * a + b * b),                 -a / (a * a + b * b)) \
  ROW(copysign, "a with the sign of b.",               with_sign(a, b),      select((a < T(0)) != (b < T(0)), T(-1), T(1)), T(0)) \
  ROW(ldexp,    "a times 2 to the power of b.",        scale_by_power(a, b), power(T(2), b),                      a * power(T(2), b) * T(0.693147180559945309))

//      name         doc                                value             (integers only; no slope)
#define MX_INTEGER_ROWS(ROW) \
  ROW(bitwise_and, "Bits that are set in both.",        a & b) \
  ROW(bitwise_or,  "Bits that are set in one or both.", a | b) \
  ROW(bitwise_xor, "Bits that are set in just one.",    a ^ b) \
  ROW(lcm,         "Least common multiple, not negative.", common_multiple(a, b))

//      name            doc                              value
#define MX_COMPARE_ROWS(ROW) \
  ROW(equal,         "a == b.",                          a == b) \
  ROW(not_equal,     "a != b.",                          a != b) \
  ROW(greater,       "a > b.",                           a > b) \
  ROW(greater_equal, "a >= b.",                          a >= b) \
  ROW(lesser,        "a < b.",                           a < b) \
  ROW(lesser_equal,  "a <= b.",                          a <= b) \
  ROW(logical_and,   "Whether both are not zero.",       (a != T(0)) & (b != T(0))) \
  ROW(logical_or,    "Whether one is not zero.",         (a != T(0)) | (b != T(0))) \
  ROW(logical_xor,   "Whether just one is not zero.",    (a != T(0)) != (b != T(0)))
// clang-format on
