// SPDX-License-Identifier: Apache-2.0
// Equations with triangles of matrices that lie row by row, and as libraries see them, for which
// matrices lie column by column.
#pragma once
#include <cstdint>

namespace mxnet::cuda {

// m x = alpha b for each right-hand side b, where m is a triangle of a square matrix or its
// transpose.
struct TriangleEquations {
  int64_t n, count;        // the side of the matrix, right-hand sides
  bool lower, transposed;  // which triangle; whether its transpose is solved with
  bool unit = false;       // the diagonal is ones, whatever lies there
  bool in_rows = false;    // right-hand sides are rows of x, else columns
  double alpha = 1;
};

// What trsm is told: x is rows x columns, without gaps.
struct ColumnMajorEquations {
  bool left;  // op(a) x = b; else x op(a) = b
  bool upper, transposed;
  int64_t rows, columns;
};

// Both matrices are their transposes there: lower triangles are upper ones, and right-hand sides in
// rows are columns.
constexpr ColumnMajorEquations column_major(const TriangleEquations& of) {
  return {.left = of.in_rows,
          .upper = of.lower,
          .transposed = of.transposed != of.in_rows,
          .rows = of.in_rows ? of.n : of.count,
          .columns = of.in_rows ? of.count : of.n};
}

}  // namespace mxnet::cuda
