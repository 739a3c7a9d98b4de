// SPDX-License-Identifier: Apache-2.0
// Questions about single numbers: NumPy's is... functions. `x` is a floating-point number; integers
// are asked as the floating-point numbers that they are.
#pragma once
#include <cmath>

// ROW(name, doc, test)
#define MX_QUESTION_ROWS(ROW)                                              \
  ROW(nan, "Whether it is NaN.", x != x)                                   \
  ROW(inf, "Whether it is an infinity.", std::fabs(x) == C(INFINITY))      \
  ROW(finite, "Whether it is neither NaN nor an infinity.", x - x == C(0)) \
  ROW(posinf, "Whether it is the positive infinity.", x == C(INFINITY))    \
  ROW(neginf, "Whether it is the negative infinity.", x == -C(INFINITY))
