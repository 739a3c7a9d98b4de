// SPDX-License-Identifier: Apache-2.0
// One-sided Jacobi: columns are rotated in pairs until all are orthogonal. Slower than LAPACK on
// large matrices, accurate to the last bits on all, and without a library.
#include "op/reduce/jacobi_svd.h"

#include <cmath>
#include <limits>
#include <utility>

namespace mxnet {
namespace {

// Sweeps converge quadratically; more than a dozen are never seen.
constexpr int kMaxSweeps = 60;

double dot(const double* a, const double* b, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void rotate(double* a, double* b, int64_t n, double c, double s) {
  for (int64_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

// Makes the n columns of u (each of length m >= n) orthogonal; v takes the same rotations.
void orthogonalise(double* u, double* v, int64_t m, int64_t n) {
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p + 1 < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        double *up = u + p * m, *uq = u + q * m;
        const double alpha = dot(up, up, m), beta = dot(uq, uq, m), gamma = dot(up, uq, m);
        if (std::abs(gamma) <= std::numeric_limits<double>::epsilon() * std::sqrt(alpha * beta))
          continue;
        rotated = true;
        const double zeta = (beta - alpha) / (2.0 * gamma);
        const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double c = 1.0 / std::hypot(1.0, t);
        rotate(up, uq, m, c, c * t);
        rotate(v + p * n, v + q * n, n, c, c * t);
      }
    }
    if (!rotated) return;
  }
}

}  // namespace

Svd jacobi_svd(const std::vector<double>& a, int64_t rows, int64_t columns) {
  const bool wide = rows < columns;
  const int64_t m = wide ? columns : rows, n = wide ? rows : columns;
  Svd svd;
  svd.u.resize(static_cast<std::size_t>(m * n));
  svd.v.assign(static_cast<std::size_t>(n * n), 0.0);
  svd.s.resize(static_cast<std::size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      svd.u[static_cast<std::size_t>(j * m + i)] =
          a[static_cast<std::size_t>(wide ? j * columns + i : i * columns + j)];
    }
    svd.v[static_cast<std::size_t>(j * n + j)] = 1.0;
  }
  orthogonalise(svd.u.data(), svd.v.data(), m, n);
  for (int64_t j = 0; j < n; ++j) {
    double* column = svd.u.data() + j * m;
    const double length = std::sqrt(dot(column, column, m));
    svd.s[static_cast<std::size_t>(j)] = length;
    if (length > 0.0)
      for (int64_t i = 0; i < m; ++i) column[i] /= length;
  }
  if (wide) std::swap(svd.u, svd.v);
  return svd;
}

}  // namespace mxnet
