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

}  // namespace mxnet
