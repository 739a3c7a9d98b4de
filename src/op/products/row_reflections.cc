// SPDX-License-Identifier: Apache-2.0
// Reflections make a symmetric matrix a tridiagonal one, and rotations make that a diagonal one.
#include "op/products/row_reflections.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "op/products/row_loops.h"
#include "storage/scoped_block.h"

namespace mxnet {
namespace {

// A matrix in rows, `line` numbers apart; scratch and results. Vectors of `line` numbers: d and e
// the tridiagonal matrix's diagonals, p scratch.
template <class T>
struct EigenWork {
  const RowLoops<T>& loops;
  int64_t n, line;
  T* a;
  T* r;  // null where no eigenvectors are asked for
  T *d, *e, *p;
};

constexpr int kMostSteps = 60;

// The first of the numbers beside the diagonal, from `first` on, that is next to nothing, or n - 1.
template <class T>
int64_t end_of_block(int64_t first, int64_t n, const T* d, const T* e) {
  for (; first + 1 < n; ++first) {
    const T scale = std::abs(d[first]) + std::abs(d[first + 1]);
    if (std::abs(e[first]) + scale == scale || std::abs(e[first]) < kNegligible<T>) break;
  }
  return first;
}

// Wilkinson's shift for the block that begins with number l.
template <class T>
T shift_of(T* d, T beside, int64_t l) {
  const T half = (d[l + 1] - d[l]) / (2 * beside), root = std::sqrt(half * half + 1);
  return d[l] - beside / (half < 0 ? half - root : half + root);
}

// step(l, m) for blocks of rows from l to m, the first ones first, until none has more than one.
// Whether that came to an end.
template <class T, class F>
bool each_step(const EigenWork<T>& work, const F& step) {
  for (int64_t l = 0; l < work.n; ++l) {
    for (int steps = 0;; ++steps) {
      const int64_t m = end_of_block(l, work.n, work.d, work.e);
      if (m == l) break;
      if (steps == kMostSteps) return false;
      step(l, m);
    }
  }
  return true;
}

// Implicit shifts: d becomes the eigenvalues, rows of r are rotated likewise.
template <class T>
bool to_diagonal(const EigenWork<T>& work) {
  T *const d = work.d, *const e = work.e;
  return each_step(work, [&](int64_t l, int64_t m) {
    T g = d[m] - shift_of(d, e[l], l);
    T s = 1, c = 1, p = 0;
    for (int64_t i = m - 1; i >= l; --i) {
      const T f = s * e[i], b = c * e[i];
      T r = std::sqrt(f * f + g * g);
      e[i + 1] = r;
      if (r < kNegligible<T>) {
        d[i + 1] -= p;
        e[m] = 0;
        return;
      }
      s = f / r;
      c = g / r;
      g = d[i + 1] - p;
      r = (d[i] - g) * s + 2 * c * b;
      p = s * r;
      d[i + 1] = g + p;
      g = c * r - b;
      work.loops.rotate(work.r + i * work.line, work.r + (i + 1) * work.line, work.line, c, s);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
  });
}

// The same without vectors: with the squares of the numbers beside the diagonal, so that no roots
// are taken (Pal's, Walker's and Kahan's form).
template <class T>
bool to_values(const EigenWork<T>& work) {
  T *const d = work.d, *const e = work.e;
  return each_step(work, [&](int64_t l, int64_t m) {
    const T shift = shift_of(d, e[l], l);
    T c = 1, s = 0, gamma = d[m] - shift, p = gamma * gamma;
    for (int64_t i = m - 1; i >= l; --i) {
      const T beside = e[i] * e[i], r = p + beside;
      if (i + 1 < m) e[i + 1] = std::sqrt(s * r);
      const T before = c, gamma_before = gamma, here = d[i];
      c = r > 0 ? p / r : T{1};
      s = r > 0 ? beside / r : T{0};
      gamma = c * (here - shift) - s * gamma_before;
      d[i + 1] = gamma_before + (here - gamma);
      p = c > 0 ? gamma * gamma / c : before * beside;
    }
    e[l] = std::sqrt(s * p);
    d[l] = shift + gamma;
  });
}

template <class T>
bool diagonalise(const EigenWork<T>& work) {
  const RowLoops<T>& loops = work.loops;
  const int64_t n = work.n, line = work.line;
  T *const a = work.a, *const p = work.p;
  for (int64_t i = 0; i + 2 < n; ++i) {
    T* const v = a + i * line;
    work.d[i] = v[i];
    const T weight = loops.reflect(v, line, i + 1, work.e[i]);
    if (work.r != nullptr) work.r[i * line] = weight;  // kept in a place that is set later
    p[i] = 0;
    if (weight == 0) continue;
    loops.multiply(a, line, i + 1, i + 1, n, v, weight, p);
    T along = 0;
    for (int64_t j = i + 1; j < n; ++j) along += p[j] * v[j];
    along *= weight / 2;
    for (int64_t j = i + 1; j < n; ++j) p[j] -= along * v[j];
    loops.subtract(a, line, i + 1, i + 1, n, v, p, true);
  }
  for (int64_t i = n - 2; i < n; ++i) work.d[i] = a[i * line + i];
  work.e[n - 2] = a[(n - 2) * line + n - 1];
  work.e[n - 1] = 0;
  if (work.r == nullptr) return to_values(work);
  for (int64_t i = n - 1; i-- > 0;) {
    T& kept = work.r[i * line];
    const T weight = i + 2 < n ? kept : 0;
    kept = 0;
    loops.reflect_identity(work.r, line, i + 1, n, a + i * line, weight, p);
  }
  work.r[0] = 1;
  return to_diagonal(work);
}

}  // namespace

template <class T>
bool find_eigenvectors(bool lower, bool vectors, int64_t n, T* a, T* w) {
  const RowLoops<T>* const loops = row_loops<T>();
  if (loops == nullptr || n < 2 || n > kMostReflectedRows) return false;
  const int64_t line = row_line<T>(n), square = n * line;
  const int64_t count = square * (vectors ? 2 : 1) + 3 * line;
  const ScopedBlock memory(static_cast<std::size_t>(count) * sizeof(T), "workspace");
  T* const at = memory.as<T>();
  std::fill_n(at, count, T{0});
  T most{0};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const T number = lower ? a[i * n + j] : a[j * n + i];
      at[i * line + j] = number;
      most = std::max(most, std::abs(number));
    }
  }
  const RowScale<T> scale(most);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j)
      at[j * line + i] = at[i * line + j] = scale.down(at[i * line + j]);
  }
  T* const rows = vectors ? at + square : nullptr;
  T* const d = at + count - 3 * line;
  if (!diagonalise<T>({*loops, n, line, at, rows, d, d + line, d + 2 * line})) return false;
  const RowOrder order(n, [d](int32_t i, int32_t j) { return d[i] < d[j]; });
  for (int64_t i = 0; i < n; ++i) {
    w[i] = scale.up(d[order[i]]);
    if (vectors) std::copy_n(rows + order[i] * line, n, a + i * n);
  }
  return true;
}

template <class T>
bool find_lq(int64_t m, int64_t n, T* q, T* l) {
  const RowLoops<T>* const loops = row_loops<T>();
  if (loops == nullptr || n > kMostReflectedRows) return false;
  const int64_t line = row_line<T>(n), square = m * line, count = 2 * square + 2 * line;
  const ScopedBlock memory(static_cast<std::size_t>(count) * sizeof(T), "workspace");
  T* const at = memory.as<T>();
  std::fill_n(at, count, T{0});
  for (int64_t i = 0; i < m; ++i) std::copy_n(q + i * n, n, at + i * line);
  T *const rows = at + square, *const weights = rows + square;
  if (!loops->to_lower_triangle({m, line, at, rows, l, weights, weights + line})) return false;
  for (int64_t i = 0; i < m; ++i) std::copy_n(rows + i * line, n, q + i * n);
  return true;
}

template bool find_lq(int64_t, int64_t, float*, float*);
template bool find_lq(int64_t, int64_t, double*, double*);
template bool find_eigenvectors(bool, bool, int64_t, float*, float*);
template bool find_eigenvectors(bool, bool, int64_t, double*, double*);

}  // namespace mxnet
