// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of small matrices that need not be symmetric: QR steps with shifts on the whole
// matrix, until it is triangular but for blocks of two with complex eigenvalues.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace mxnet::cuda {

class GeneralEigen {
 public:
  // `a`: row by row.
  GeneralEigen(int64_t n, std::vector<double> a)
      : n_(n),
        t_(std::move(a)),
        z_(static_cast<std::size_t>(n * n)),
        values_(2 * static_cast<std::size_t>(n)) {
    for (int64_t i = 0; i < n; ++i) z(i, i) = 1;
    int64_t m = n;
    for (int steps = 0; m > 0 && steps < kMostSteps; ++steps) {
      if (is_small_left_of(m - 1, m - 1)) {
        real(m - 1) = t(m - 1, m - 1);
        --m;
      } else if (m >= 2 && is_small_left_of(m - 1, m - 2) && is_small_left_of(m - 2, m - 2) &&
                 is_complex(m)) {
        const double half = (t(m - 2, m - 2) + t(m - 1, m - 1)) / 2;
        real(m - 2) = real(m - 1) = half;
        imaginary(m - 2) = std::sqrt(-discriminant(m));
        imaginary(m - 1) = -imaginary(m - 2);
        m -= 2;
      } else {
        step(m);
      }
    }
    converged_ = m == 0;
  }

  bool converged() const { return converged_; }
  // Real parts, then imaginary ones.
  const std::vector<double>& values() const { return values_; }
  // Of the k-th, which is real, with length 1.
  std::vector<double> vector(int64_t k) {
    std::vector<double> y(static_cast<std::size_t>(n_)), v(static_cast<std::size_t>(n_));
    y[static_cast<std::size_t>(k)] = 1;
    for (int64_t i = k; i-- > 0;) {
      double sum = 0;
      for (int64_t j = i + 1; j <= k; ++j) sum += t(i, j) * y[static_cast<std::size_t>(j)];
      const double gap = t(i, i) - t(k, k);
      y[static_cast<std::size_t>(i)] = -sum / (gap == 0 ? 1e-300 : gap);
    }
    double length = 0;
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j <= k; ++j)
        v[static_cast<std::size_t>(i)] += z(i, j) * y[static_cast<std::size_t>(j)];
      length += v[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(i)];
    }
    for (double& x : v) x /= std::sqrt(length);
    return v;
  }

 private:
  static constexpr int kMostSteps = 10000;

  double& t(int64_t i, int64_t j) { return t_[static_cast<std::size_t>(i * n_ + j)]; }
  double& z(int64_t i, int64_t j) { return z_[static_cast<std::size_t>(i * n_ + j)]; }
  double& real(int64_t i) { return values_[static_cast<std::size_t>(i)]; }
  double& imaginary(int64_t i) { return values_[static_cast<std::size_t>(n_ + i)]; }

  bool is_small_left_of(int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t j = 0; j < column; ++j) sum += std::abs(t(row, j));
    double all = 0;
    for (const double x : t_) all += std::abs(x);
    return sum <= 1e-15 * all;
  }
  // Of the last two rows of m.
  double discriminant(int64_t m) {
    const double gap = (t(m - 2, m - 2) - t(m - 1, m - 1)) / 2;
    return gap * gap + t(m - 2, m - 1) * t(m - 1, m - 2);
  }
  bool is_complex(int64_t m) { return discriminant(m) < 0; }

  // One QR step of the first m rows and columns; those behind and above turn along.
  void step(int64_t m) {
    const double d = discriminant(m), last = t(m - 1, m - 1);
    const double half = (t(m - 2, m - 2) + last) / 2;
    // The eigenvalue of the last two rows that is nearer to the last number.
    const double shift = d < 0 ? half : last > half ? half + std::sqrt(d) : half - std::sqrt(d);
    for (int64_t i = 0; i < m; ++i) t(i, i) -= shift;
    struct Turn {
      int64_t i, k;
      double c, s;
    };
    std::vector<Turn> turns;
    for (int64_t k = 0; k < m; ++k) {
      for (int64_t i = k + 1; i < m; ++i) {
        const double r = std::hypot(t(k, k), t(i, k));
        if (t(i, k) == 0 || r == 0) continue;
        const Turn turn{i, k, t(k, k) / r, t(i, k) / r};
        for (int64_t j = 0; j < n_; ++j) rotate(t(k, j), t(i, j), turn.c, turn.s);
        turns.push_back(turn);
      }
    }
    for (const Turn& turn : turns) {
      for (int64_t j = 0; j < m; ++j) rotate(t(j, turn.k), t(j, turn.i), turn.c, turn.s);
      for (int64_t j = 0; j < n_; ++j) rotate(z(j, turn.k), z(j, turn.i), turn.c, turn.s);
    }
    for (int64_t i = 0; i < m; ++i) t(i, i) += shift;
  }
  static void rotate(double& x, double& y, double c, double s) {
    const double kept = x;
    x = c * kept + s * y;
    y = c * y - s * kept;
  }

  const int64_t n_;
  std::vector<double> t_, z_, values_;
  bool converged_ = false;
};

}  // namespace mxnet::cuda
