// SPDX-License-Identifier: Apache-2.0
// What the operators made of binary rows share: docs and slopes as graphs, for gradients that are
// differentiated again and for broadcast shapes.
#pragma once
#include "op/elemwise/expr.h"
#include "op/rows/binary_loops.h"

namespace mxnet {

const char* row_doc(BinaryRow row);
// dy/da (left) or dy/db; zero for rows that have no slope.
Expr binary_slope_expr(BinaryRow row, bool left, const Expr& a, const Expr& b);
// Whether numbers between two integers go into the slope of integers.
bool has_fractions(BinaryRow row, bool left);
// dy times that slope. Of integers a slope is computed in float64 and cut to their type, where they
// may be integers; that of a remainder is 0.
Value times_slope(BinaryRow row, bool left, const Grad& grad, const Expr& a, const Expr& b);

}  // namespace mxnet
