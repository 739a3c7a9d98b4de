// SPDX-License-Identifier: Apache-2.0
// Factors of matrices for the emulated plug-in, in place of cuSOLVER: the shortest algorithms that
// converge, in double.
#include "plugin/cuda/solver/solver.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "general_eigen.h"

namespace mxnet::cuda {
namespace {

constexpr int kSweeps = 60;

// Row-major, in double whatever the type of its memory.
struct Matrix {
  int64_t m, n;
  std::vector<double> values;
  Matrix(int64_t rows, int64_t columns)
      : m(rows), n(columns), values(static_cast<std::size_t>(rows * columns)) {}
  double& at(int64_t i, int64_t j) { return values[static_cast<std::size_t>(i * n + j)]; }
  double get(int64_t i, int64_t j) const { return values[static_cast<std::size_t>(i * n + j)]; }
};

// Rotates rows i and j of a by the angle that makes them orthogonal under `dot`; false where they
// are.
bool rotate(Matrix* a, Matrix* turns, int64_t i, int64_t j, double ii, double jj, double ij) {
  if (std::abs(ij) <= 1e-16 * std::sqrt(std::abs(ii * jj)) || ij == 0) return false;
  const double zeta = (jj - ii) / (2 * ij);
  const double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const double c = 1 / std::sqrt(1 + t * t), s = c * t;
  for (Matrix* each : {a, turns}) {
    for (int64_t k = 0; k < each->n; ++k) {
      const double x = each->at(i, k), y = each->at(j, k);
      each->at(i, k) = c * x - s * y;
      each->at(j, k) = s * x + c * y;
    }
  }
  return true;
}
double dot(Matrix& a, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < a.n; ++k) sum += a.at(i, k) * a.at(j, k);
  return sum;
}
Matrix identity(int64_t n) {
  Matrix result(n, n);
  for (int64_t i = 0; i < n; ++i) result.at(i, i) = 1;
  return result;
}
// Rows of a become orthogonal; the result turns the given ones into these.
Matrix orthogonalise_rows(Matrix* a) {
  Matrix turns = identity(a->m);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool turned = false;
    for (int64_t i = 0; i < a->m; ++i) {
      for (int64_t j = i + 1; j < a->m; ++j)
        turned |= rotate(a, &turns, i, j, dot(*a, i, i), dot(*a, j, j), dot(*a, i, j));
    }
    if (!turned) break;
  }
  return turns;
}

// Row j of `to` by reflection i of `a`.
void reflect(Matrix& a, int64_t i, double tau, Matrix* to, int64_t j) {
  double sum = to->at(j, i);
  for (int64_t k = i + 1; k < a.n; ++k) sum += to->at(j, k) * a.at(i, k);
  to->at(j, i) -= tau * sum;
  for (int64_t k = i + 1; k < a.n; ++k) to->at(j, k) -= tau * sum * a.at(i, k);
}

}  // namespace

bool has_solver() { return true; }

struct Solver::State {
  DType dtype;

  // Element i of an array of the type.
  void* at(void* first, int64_t i) const {
    return static_cast<char*>(first) + i * static_cast<int64_t>(dtype_size(dtype));
  }
  Matrix read(const void* from, int64_t m, int64_t n) const {
    Matrix result(m, n);
    for (std::size_t i = 0; i < result.values.size(); ++i)
      result.values[i] = dtype == DType::kFloat64 ? static_cast<const double*>(from)[i]
                                                  : static_cast<const float*>(from)[i];
    return result;
  }
  void write(const Matrix& from, void* to) const {
    for (std::size_t i = 0; i < from.values.size(); ++i) {
      if (dtype == DType::kFloat64)
        static_cast<double*>(to)[i] = from.values[i];
      else
        static_cast<float*>(to)[i] = static_cast<float>(from.values[i]);
    }
  }
};

Solver::Solver(DType dtype, KernelContext&) : state_(new State{dtype}) {}
Solver::~Solver() = default;

void Solver::factor_definite(int64_t n, bool lower, void* memory, int32_t* info) {
  Matrix a = state_->read(memory, n, n);
  const auto at = [&](int64_t i, int64_t j) -> double& { return lower ? a.at(i, j) : a.at(j, i); };
  *info = 0;
  for (int64_t k = 0; k < n && *info == 0; ++k) {
    if (!(at(k, k) > 0)) *info = static_cast<int32_t>(k + 1);
    at(k, k) = std::sqrt(at(k, k));
    for (int64_t i = k + 1; i < n; ++i) at(i, k) /= at(k, k);
    for (int64_t i = k + 1; i < n; ++i)
      for (int64_t j = k + 1; j <= i; ++j) at(i, j) -= at(i, k) * at(j, k);
  }
  state_->write(a, memory);
}

void Solver::factor_all_definite(int64_t n, int64_t count, bool lower, void* memory,
                                 int32_t* infos) {
  for (int64_t i = 0; i < count; ++i)
    factor_definite(n, lower, state_->at(memory, i * n * n), infos + i);
}

void Solver::factor_all(int64_t n, int64_t count, void* memory, int32_t* exchanges,
                        int32_t* infos) {
  std::vector<int64_t> wide(static_cast<std::size_t>(n));
  for (int64_t i = 0; i < count; ++i) {
    factor(n, state_->at(memory, i * n * n), wide.data(), infos + i);
    for (const int64_t each : wide) *exchanges++ = static_cast<int32_t>(each);
  }
}

void Solver::factor(int64_t n, void* memory, int64_t* exchanges, int32_t* info) {
  Matrix a = state_->read(memory, n, n);
  const auto at = [&](int64_t i, int64_t j) -> double& { return a.at(j, i); };
  *info = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(at(i, k)) > std::abs(at(best, k))) best = i;
    exchanges[k] = best + 1;
    for (int64_t j = 0; j < n; ++j) std::swap(at(k, j), at(best, j));
    if (at(k, k) == 0) {
      if (*info == 0) *info = static_cast<int32_t>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      at(i, k) /= at(k, k);
      for (int64_t j = k + 1; j < n; ++j) at(i, j) -= at(i, k) * at(k, j);
    }
  }
  state_->write(a, memory);
}

void Solver::solve_triangle(const TriangleEquations& of, const void* memory, void* x) {
  const Matrix a = state_->read(memory, of.n, of.n);
  const int64_t rows = of.in_rows ? of.count : of.n, columns = of.in_rows ? of.n : of.count;
  Matrix sides = state_->read(x, rows, columns);
  const auto in_a = [&](int64_t i, int64_t j) { return of.transposed ? a.get(j, i) : a.get(i, j); };
  const bool forwards = of.lower != of.transposed;
  for (int64_t side = 0; side < of.count; ++side) {
    const auto at = [&](int64_t i) -> double& {
      return of.in_rows ? sides.at(side, i) : sides.at(i, side);
    };
    for (int64_t k = 0; k < of.n; ++k) {
      const int64_t i = forwards ? k : of.n - 1 - k;
      at(i) *= of.alpha;
      for (int64_t j = 0; j < of.n; ++j)
        if (forwards ? j < i : j > i) at(i) -= in_a(i, j) * at(j);
      if (!of.unit) at(i) /= in_a(i, i);
    }
  }
  state_->write(sides, x);
}

// Rows of a + c, where c makes it definite, are orthogonalised: their lengths are eigenvalues + c.
void Solver::eigen(int64_t n, bool lower, bool vectors, void* memory, void* values, int32_t* info) {
  Matrix a = state_->read(memory, n, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      if (lower)
        a.at(j, i) = a.at(i, j);
      else
        a.at(i, j) = a.at(j, i);
    }
  }
  double shift = 0;
  for (const double value : a.values) shift += std::abs(value);
  for (int64_t i = 0; i < n; ++i) a.at(i, i) += shift;
  Matrix turns = orthogonalise_rows(&a);
  std::vector<std::pair<double, int64_t>> order;
  for (int64_t i = 0; i < n; ++i) order.emplace_back(std::sqrt(dot(a, i, i)) - shift, i);
  std::sort(order.begin(), order.end());
  Matrix w(1, n), u(n, n);
  for (int64_t i = 0; i < n; ++i) {
    const auto& [value, row] = order[static_cast<std::size_t>(i)];
    w.at(0, i) = value;
    for (int64_t k = 0; k < n; ++k) u.at(i, k) = turns.at(row, k);
  }
  state_->write(w, values);
  if (vectors) state_->write(u, memory);
  *info = 0;
}

void Solver::eigen_of_all(int64_t n, int64_t count, bool lower, bool vectors, void* memory,
                          void* values, int32_t* infos) {
  for (int64_t i = 0; i < count; ++i)
    eigen(n, lower, vectors, state_->at(memory, i * n * n), state_->at(values, i * n), infos + i);
}

void Solver::eigen_of_any(int64_t n, void* memory, void* values, void* vectors, int32_t* info) {
  Matrix columns = state_->read(memory, n, n), a(n, n), pairs(1, 2 * n), rows(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) a.at(i, j) = columns.at(j, i);
  GeneralEigen eigen(n, a.values);
  *info = eigen.converged() ? 0 : 1;
  pairs.values = eigen.values();
  state_->write(pairs, values);
  if (vectors == nullptr) return;
  for (int64_t k = 0; k < n; ++k) {
    const std::vector<double> v = eigen.vector(k);
    for (int64_t i = 0; i < n; ++i) rows.at(k, i) = v[static_cast<std::size_t>(i)];
  }
  state_->write(rows, vectors);
}

void Solver::singular(int64_t m, int64_t n, void* memory, void* u, void* sigma, void* v,
                      int32_t* info) {
  Matrix a = state_->read(memory, m, n);
  Matrix turns = orthogonalise_rows(&a);
  std::vector<std::pair<double, int64_t>> order;
  for (int64_t i = 0; i < m; ++i) order.emplace_back(-std::sqrt(dot(a, i, i)), i);
  std::sort(order.begin(), order.end());
  Matrix left(m, m), lengths(1, m), right(m, n);
  for (int64_t i = 0; i < m; ++i) {
    const double length = -order[static_cast<std::size_t>(i)].first;
    const int64_t row = order[static_cast<std::size_t>(i)].second;
    lengths.at(0, i) = length;
    for (int64_t k = 0; k < m; ++k) left.at(k, i) = turns.at(row, k);
    for (int64_t k = 0; k < n; ++k) right.at(i, k) = length > 0 ? a.at(row, k) / length : 0;
  }
  state_->write(left, u);
  state_->write(lengths, sigma);
  state_->write(right, v);
  *info = 0;
}

void Solver::singular_of_all(int64_t m, int64_t n, int64_t count, void* memory, void* u_turned,
                             void* sigma, void* v_square, int32_t* infos) {
  std::vector<double> buffer(static_cast<std::size_t>(m * m + m * n));
  for (int64_t i = 0; i < count; ++i) {
    void *const u = buffer.data(), *const v = state_->at(u, m * m);
    singular(m, n, state_->at(memory, i * m * n), u, state_->at(sigma, i * m), v, infos + i);
    const Matrix left = state_->read(u, m, m), right = state_->read(v, m, n);
    Matrix turned(m, m), square(n, n);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t k = 0; k < m; ++k) turned.at(k, row) = left.get(row, k);
    std::copy(right.values.begin(), right.values.end(), square.values.begin());
    state_->write(turned, state_->at(u_turned, i * m * m));
    state_->write(square, state_->at(v_square, i * n * n));
  }
}

// Reflections, as LAPACK has them, since they determine signs: v = (1, what lies right of the
// diagonal).
void Solver::lq_triangle(int64_t m, int64_t n, void* memory, void* factors, int32_t* info) {
  Matrix a = state_->read(memory, m, n), taus(1, m);
  for (int64_t i = 0; i < m; ++i) {
    double rest = 0;
    for (int64_t k = i + 1; k < n; ++k) rest += a.at(i, k) * a.at(i, k);
    if (rest == 0) continue;
    const double alpha = a.at(i, i), beta = -std::copysign(std::sqrt(alpha * alpha + rest), alpha);
    taus.at(0, i) = (beta - alpha) / beta;
    for (int64_t k = i + 1; k < n; ++k) a.at(i, k) /= alpha - beta;
    a.at(i, i) = beta;
    for (int64_t j = i + 1; j < m; ++j) reflect(a, i, taus.at(0, i), &a, j);
  }
  state_->write(a, memory);
  state_->write(taus, factors);
  *info = 0;
}

void Solver::lq_rows(int64_t m, int64_t n, void* memory, const void* factors, int32_t* info) {
  Matrix a = state_->read(memory, m, n), taus = state_->read(factors, 1, m), q(m, n);
  for (int64_t i = 0; i < m; ++i) q.at(i, i) = 1;
  for (int64_t i = m; i-- > 0;)
    for (int64_t j = 0; j < m; ++j) reflect(a, i, taus.at(0, i), &q, j);
  state_->write(q, memory);
  *info = 0;
}

}  // namespace mxnet::cuda
