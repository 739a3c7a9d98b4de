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

}  // namespace mxnet
