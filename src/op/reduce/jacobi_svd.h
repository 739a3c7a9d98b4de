// SPDX-License-Identifier: Apache-2.0
// Singular values and vectors of one small dense matrix, for matrix norms.
#pragma once
#include <cstdint>
#include <vector>

namespace mxnet {

// A = U diag(s) V^T with min(rows, columns) triples, s in no particular order. Columns of U and V
// follow each other; those of U that belong to s = 0 are zero.
struct Svd {
  std::vector<double> u, s, v;
};

// `a` is row-major, rows x columns.
Svd jacobi_svd(const std::vector<double>& a, int64_t rows, int64_t columns);

}  // namespace mxnet
