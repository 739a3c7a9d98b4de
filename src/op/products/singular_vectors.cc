// SPDX-License-Identifier: Apache-2.0
// Reflections from both sides leave two diagonals of a matrix, and rotations from both sides one.
#include "op/products/singular_vectors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "op/products/blas.h"
#include "op/products/products.h"
#include "op/products/row_loops.h"
#include "op/products/row_reflections.h"
#include "storage/scoped_block.h"

namespace mxnet {
namespace {

// Of m rows, which `a` holds: they become vectors of reflections, as its columns do in the rows of
// `columns`. Rows of along and across, which are zeros before, become the vectors that rows and
// columns of a are made of; d the values, of which some are negative. Those of across and columns
// are line_across numbers apart.
template <class T>
struct SingularWork {
  const RowLoops<T>& loops;
  int64_t m, line, line_across;
  T *a, *along, *columns, *across, *d, *e, *weights, *column_weights, *p;
};

// What makes (length, 0) of (f, g). What is next to nothing beside a matrix of about one stays.
template <class T>
struct Rotation {
  Rotation(T f, T g) {
    const T root = std::sqrt(f * f + g * g);
    const bool some = root >= kNegligible<T>;
    length = some ? root : f;
    c = some ? f / root : T{1};
    s = some ? g / root : T{0};
  }
  T c, s, length;
};

// The triangle of diagonal d and, above it, e: rows of `across` are rotated as its columns are, and
// those of `along` as its rows are.
template <class T>
class TwoDiagonals {
 public:
  explicit TwoDiagonals(const SingularWork<T>& work) : work_(work), d_(work.d), e_(work.e) {}

  // Whether it converged.
  bool to_diagonal() const {
    constexpr int kMostSteps = 60;
    int steps = 0;
    for (int64_t last = work_.m - 1; last > 0;) {
      if (is_nothing(last - 1)) {
        --last;
        steps = 0;
        continue;
      }
      if (++steps > kMostSteps) return false;
      int64_t first = last - 1;
      while (first > 0 && !is_nothing(first - 1)) --first;
      int64_t zero = first;
      while (zero < last && std::abs(d_[zero]) >= kNothing) ++zero;
      zero < last ? clear_row(zero, last) : step(first, last);
    }
    return true;
  }

 private:
  // What is less than a part of the error of a matrix of about one, and of a number of about one.
  static constexpr T kNothing = static_cast<T>(sizeof(T) == sizeof(float) ? 1e-12 : 1e-20);
  static constexpr T kRounding = static_cast<T>(sizeof(T) == sizeof(float) ? 0x1p-24 : 0x1p-53);

  bool is_nothing(int64_t i) const {
    const T scale = std::abs(d_[i]) + std::abs(d_[i + 1]), beside = std::abs(e_[i]);
    return beside + scale == scale || beside < kNothing;
  }
  void rotate_columns(int64_t i, int64_t j, const Rotation<T>& by) const {
    const int64_t line = work_.line_across;
    work_.loops.rotate(work_.across + i * line, work_.across + j * line, line, by.c, -by.s);
  }
  void rotate_rows(int64_t i, int64_t j, const Rotation<T>& by) const {
    const int64_t line = work_.line;
    work_.loops.rotate(work_.along + i * line, work_.along + j * line, line, by.c, -by.s);
  }

  // Row i, whose number on the diagonal is nothing, is rotated with those up to `last`, until there
  // is none beside it.
  void clear_row(int64_t i, int64_t last) const {
    T other = e_[i];
    d_[i] = e_[i] = 0;
    for (int64_t k = i + 1; k <= last && other != 0; ++k) {
      const Rotation<T> by(d_[k], other);
      d_[k] = by.length;
      other = -by.s * e_[k];
      e_[k] *= by.c;
      rotate_rows(k, i, by);
    }
  }

  // The smaller singular value of the last two rows and columns, or 0 where that makes no
  // difference to the first number.
  T shift(int64_t first, int64_t last) const {
    const T f = std::abs(d_[last - 1]), g = std::abs(e_[last - 1]), h = std::abs(d_[last]);
    // Of the sum and the difference of both values.
    const T sum = std::sqrt((f + h) * (f + h) + g * g);
    const T difference = std::sqrt((f - h) * (f - h) + g * g);
    const T least = 2 * f * h / (sum + difference), part = least / std::abs(d_[first]);
    return part * part < kRounding ? 0 : least;
  }

  // One step of implicit shifts (Golub's and Kahan's), rows and columns [first, last].
  void step(int64_t first, int64_t last) const {
    T *const d = d_, *const e = e_;
    const T by = shift(first, last);
    T f = (std::abs(d[first]) - by) * (std::copysign(T{1}, d[first]) + by / d[first]);
    T g = e[first];
    for (int64_t i = first;; ++i) {
      const Rotation<T> columns(f, g);
      if (i > first) e[i - 1] = columns.length;
      f = columns.c * d[i] + columns.s * e[i];
      e[i] = columns.c * e[i] - columns.s * d[i];
      g = columns.s * d[i + 1];
      d[i + 1] *= columns.c;
      rotate_columns(i, i + 1, columns);
      const Rotation<T> rows(f, g);
      d[i] = rows.length;
      f = rows.c * e[i] + rows.s * d[i + 1];
      d[i + 1] = rows.c * d[i + 1] - rows.s * e[i];
      rotate_rows(i, i + 1, rows);
      if (i + 1 == last) break;
      g = rows.s * e[i + 1];
      e[i + 1] *= rows.c;
    }
    e[last - 1] = f;
  }

  const SingularWork<T>& work_;
  T *const d_, *const e_;
};

// Whether it converged.
template <class T>
bool find_values(const SingularWork<T>& work) {
  const RowLoops<T>& loops = work.loops;
  const int64_t m = work.m, line = work.line, line_across = work.line_across;
  T *const a = work.a, *const columns = work.columns, *const p = work.p;
  for (int64_t i = 0; i < m; ++i) {
    T* const v = a + i * line;
    const T weight = work.weights[i] = loops.reflect(v, line, i, work.d[i]);
    if (i + 1 == m) break;
    if (weight != 0) {
      loops.multiply(a, line, i, i + 1, m, v, weight, p);
      loops.subtract(a, line, i, i + 1, m, v, p, false);
    }
    // Column i below becomes a row.
    T* const w = columns + i * line_across;
    for (int64_t r = i + 1; r < m; ++r) w[r] = a[r * line + i];
    work.column_weights[i] = loops.reflect(w, line_across, i + 1, work.e[i]);
    if (work.column_weights[i] == 0) continue;
    loops.combine(a, line, i + 1, i + 1, m, w, work.column_weights[i], p);
    loops.subtract(a, line, i + 1, i + 1, m, p, w, false);
  }
  for (int64_t i = m; i-- > 0;) {
    loops.reflect_identity(work.along, line, i, m, a + i * line, work.weights[i], p);
    if (i == 0) break;
    loops.reflect_identity(work.across, line_across, i, m, columns + (i - 1) * line_across,
                           work.column_weights[i - 1], p);
  }
  work.across[0] = 1;
  return TwoDiagonals<T>(work).to_diagonal();
}

// Vectors as rows, each `row` numbers apart and its numbers `column`.
template <class T>
struct Vectors {
  T& operator()(int64_t i, int64_t j) const { return at[i * row + j * column]; }
  T* at;
  int64_t row, column;
};

// Of a matrix with no more rows than columns: the values, descending, the vectors of as many
// numbers as there are rows, and those of as many as there are columns.
template <class T>
bool find_wide(int64_t m, int64_t n, const Vectors<const T>& a, T* s, const Vectors<T>& across,
               const Vectors<T>& along) {
  const int64_t line = row_line<T>(n), line_across = row_line<T>(m);
  const int64_t count = 2 * m * (line + line_across) + line + 4 * line_across;
  const ScopedBlock memory(static_cast<std::size_t>(count) * sizeof(T), "workspace");
  T* at = memory.as<T>();
  std::fill_n(at, count, T{0});
  const auto next = [&](int64_t numbers) { return std::exchange(at, at + numbers); };
  const SingularWork<T> work{.loops = *row_loops<T>(),
                             .m = m,
                             .line = line,
                             .line_across = line_across,
                             .a = next(m * line),
                             .along = next(m * line),
                             .columns = next(m * line_across),
                             .across = next(m * line_across),
                             .d = next(line_across),
                             .e = next(line_across),
                             .weights = next(line_across),
                             .column_weights = next(line_across),
                             .p = next(line)};
  T most{0};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const T number = a(i, j);
      work.a[i * line + j] = number;
      most = std::max(most, std::abs(number));
    }
  }
  const RowScale<T> scale(most);
  for (int64_t i = 0; i < m * line; ++i) work.a[i] = scale.down(work.a[i]);
  if (!find_values(work)) return false;
  const T* const d = work.d;
  const RowOrder order(m, [d](int32_t i, int32_t j) { return std::abs(d[i]) > std::abs(d[j]); });
  for (int64_t k = 0; k < m; ++k) {
    const int64_t i = order[k];
    const T sign = d[i] < 0 ? T{-1} : T{1};
    s[k] = scale.up(std::abs(d[i]));
    for (int64_t j = 0; j < m; ++j) across(k, j) = sign * work.across[i * line_across + j];
    for (int64_t j = 0; j < n; ++j) along(k, j) = work.along[i * line + j];
  }
  return true;
}

// The same through LQ factors, where rows are so long that a triangle instead of them saves more.
template <class T>
bool find_long(int64_t m, int64_t n, const Vectors<const T>& a, T* s, const Vectors<T>& across,
               const Vectors<T>& along) {
  const int64_t square = m * m, count = 2 * (m * n + square);
  const ScopedBlock memory(static_cast<std::size_t>(count) * sizeof(T), "workspace");
  T *const q = memory.as<T>(), *const product = q + m * n, *const l = product + m * n,
           *const inner = l + square;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) q[i * n + j] = a(i, j);
  if (!find_lq(m, n, q, l) && blas::gelqf(m, n, q, l) != 0) return false;
  if (!find_wide<T>(m, m, {l, m, 1}, s, across, {inner, m, 1})) return false;
  multiply_few(false, false, m, n, m, inner, q, product);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) along(i, j) = product[i * n + j];
  return true;
}

}  // namespace

template <class T>
bool find_singular_vectors(int64_t m, int64_t n, const T* a, T* u, T* s, T* v) {
  constexpr int64_t kLong = 32;
  const int64_t least = std::min(m, n), most = std::max(m, n);
  if (row_loops<T>() == nullptr || least == 0 || least > kMostReflectedRows) return false;
  const bool wide = m <= n;
  const Vectors<const T> rows{a, wide ? n : 1, wide ? 1 : n};
  const Vectors<T> left{u, 1, least}, right{v, n, 1};
  const auto find = most >= kLong && most >= 2 * least ? find_long<T> : find_wide<T>;
  return find(least, most, rows, s, wide ? left : right, wide ? right : left);
}

template bool find_singular_vectors(int64_t, int64_t, const float*, float*, float*, float*);
template bool find_singular_vectors(int64_t, int64_t, const double*, double*, double*, double*);

}  // namespace mxnet
