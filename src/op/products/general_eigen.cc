// SPDX-License-Identifier: Apache-2.0
// The QR algorithm with double shifts (Francis's) on the transpose, whose left eigenvectors are
// right ones of the matrix: whole rows are vectors, and what is turned is kept as rows, too.
// Numbers are doubles, of which few rows take as long as of floats.
#include "op/products/general_eigen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "op/products/products.h"
#include "op/products/row_loops.h"
#include "storage/scoped_block.h"

namespace mxnet {
namespace {

// Rows of h, turned, columns and z are `line` numbers apart; h becomes a triangle. Without `turned`
// only its diagonal does.
struct GeneralWork {
  const RowLoops<double>& loops;
  int64_t n, line;
  double *h, *turned, *columns, *z, *scale, *weights, *p;
  double rounding;  // of the type that is asked for: the steps are as many as LAPACK's

  double& at(int64_t i, int64_t j) const { return h[i * line + j]; }
};

enum class Found { kReal, kComplex, kNothing };

// Rows and columns are scaled by powers of two until none is much shorter than the other (as in
// EISPACK). False where one is zero: it could be moved to an end first.
bool balance(const GeneralWork& work) {
  const int64_t n = work.n;
  for (bool again = true; again;) {
    again = false;
    for (int64_t i = 0; i < n; ++i) {
      double column = 0, row = 0;
      for (int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        column += std::abs(work.at(j, i));
        row += std::abs(work.at(i, j));
      }
      if (column == 0 || row == 0) return false;
      double factor = 1;
      const double before = column + row;
      for (; column < row / 2; column *= 4) factor *= 2;
      for (; column >= row * 2; column /= 4) factor /= 2;
      if ((column + row) / factor >= 0.95 * before) continue;
      again = true;
      work.scale[i] *= factor;
      for (int64_t j = 0; j < n; ++j) {
        work.at(i, j) /= factor;
        work.at(j, i) *= factor;
      }
    }
  }
  return true;
}

// Reflections leave one diagonal below the main one.
void to_hessenberg(const GeneralWork& work) {
  const RowLoops<double>& loops = work.loops;
  const int64_t n = work.n, line = work.line;
  for (int64_t k = 0; k + 2 < n; ++k) {
    double* const w = work.columns + k * line;
    double left = 0;
    for (int64_t r = k + 1; r < n; ++r) w[r] = std::exchange(work.at(r, k), 0);
    const double weight = work.weights[k] = loops.reflect(w, line, k + 1, left);
    work.at(k + 1, k) = left;
    if (weight == 0) continue;
    loops.combine(work.h, line, k + 1, k + 1, n, w, weight, work.p);
    for (int64_t c = 0; c <= k; ++c) work.p[c] = 0;
    loops.subtract(work.h, line, k + 1, k + 1, n, work.p, w, false);
    loops.multiply(work.h, line, k + 1, 0, n, w, weight, work.p);
    loops.subtract(work.h, line, k + 1, 0, n, w, work.p, false);
  }
  if (work.turned == nullptr) return;
  for (int64_t k = n - 1; k-- > 0;)
    loops.reflect_identity(work.turned, line, k + 1, n, work.columns + k * line,
                           k + 2 < n ? work.weights[k] : 0, work.p);
  work.turned[0] = 1;
}

// A reflection of three numbers, the last of which may be zero: 1 - factor (1, second, third)^T (1,
// second, third).
struct Reflection {
  Reflection(double x, double y, double z) {
    const double others = std::sqrt(y * y + z * z);
    left = x;
    if (others == 0) return;
    left = std::copysign(std::sqrt(x * x + others * others), -x);
    factor = (left - x) / left;
    second = y / (x - left);
    third = z / (x - left);
  }
  double left, factor = 0, second = 0, third = 0;
};

class FrancisSteps {
 public:
  explicit FrancisSteps(const GeneralWork& work) : work_(work) {}

  Found run() const {
    constexpr int kMostSteps = 60;
    int steps = 0;
    for (int64_t last = work_.n - 1; last >= 0;) {
      const int64_t first = start_of_block(last);
      if (first > 0) at(first, first - 1) = 0;
      if (first + 1 >= last) {
        if (first < last && !split(first)) return Found::kComplex;
        last = first - 1;
        steps = 0;
      } else {
        if (++steps > kMostSteps) return Found::kNothing;
        step(first, last, steps);
      }
    }
    return Found::kReal;
  }

 private:
  double& at(int64_t i, int64_t j) const { return work_.at(i, j); }
  bool whole() const { return work_.turned != nullptr; }

  int64_t start_of_block(int64_t last) const {
    int64_t first = last;
    for (; first > 0; --first) {
      const double scale = std::abs(at(first - 1, first - 1)) + std::abs(at(first, first));
      const double beside = std::abs(at(first, first - 1));
      if (beside <= work_.rounding * scale || beside < kNegligible<double>) break;
    }
    return first;
  }

  // Two rows that belong together are made a triangle. False where their eigenvalues are complex.
  bool split(int64_t i) const {
    double &a = at(i, i), &b = at(i, i + 1), &c = at(i + 1, i), &d = at(i + 1, i + 1);
    const double half = (a - d) / 2, product = b * c, squared = half * half + product;
    if (squared < 0) return false;
    const double z = half + std::copysign(std::sqrt(squared), half);
    const double values[2] = {d + z, z == 0 ? d : d - product / z};
    if (whole()) {
      const double length = std::sqrt(z * z + c * c), cosine = z / length, sine = c / length;
      const auto rotate = [&](double* rows) {
        work_.loops.rotate(rows + i * work_.line, rows + (i + 1) * work_.line, work_.line, cosine,
                           -sine);
      };
      rotate(work_.h);
      for (int64_t r = 0; r < i + 2; ++r) {
        const double x = at(r, i), y = at(r, i + 1);
        at(r, i) = cosine * x + sine * y;
        at(r, i + 1) = cosine * y - sine * x;
      }
      rotate(work_.turned);
    }
    a = values[0];
    c = 0;
    d = values[1];
    return true;
  }

  // The first column of (h - s)(h - t) for rows from m on; s and t by their sum and product.
  struct Start {
    double x, y, z;
  };
  Start start_at(int64_t m, double sum, double product) const {
    const double a = at(m, m), c = at(m + 1, m);
    Start start{a * a - sum * a + product + at(m, m + 1) * c, c * (a + at(m + 1, m + 1) - sum),
                c * at(m + 2, m + 1)};
    const double size = std::abs(start.x) + std::abs(start.y) + std::abs(start.z);
    const double unit = size > 0 ? size : 1;
    return {start.x / unit, start.y / unit, start.z / unit};
  }

  // Of the last two rows: a pair of complex ones, or the real one that is nearer to the last number
  // twice. Every tenth step takes others, which end a cycle.
  std::pair<double, double> sum_and_product_of_shifts(int64_t first, int64_t last,
                                                      int steps) const {
    if (steps % 10 == 0) {
      const bool top = steps % 20 != 0;
      const int64_t i = top ? first + 2 : last;
      const double size = std::abs(at(i, i - 1)) + std::abs(at(i - 1, i - 2));
      const double middle = 0.75 * size + (top ? at(first, first) : at(last, last));
      return {2 * middle, middle * middle + 0.4375 * size * size};
    }
    const double a = at(last - 1, last - 1), d = at(last, last);
    const double product = at(last - 1, last) * at(last, last - 1);
    const double half = (a - d) / 2, squared = half * half + product;
    if (squared < 0) return {a + d, a * d - product};
    const double root = std::sqrt(squared);
    const double nearer = d + (half > 0 ? half - root : half + root);
    return {2 * nearer, nearer * nearer};
  }

  void step(int64_t first, int64_t last, int steps) const {
    const auto [sum, product] = sum_and_product_of_shifts(first, last, steps);
    // From where two numbers beside the diagonal together are next to nothing.
    int64_t m = last - 2;
    Start start = start_at(m, sum, product);
    for (; m > first; start = start_at(--m, sum, product)) {
      const double around =
          std::abs(at(m - 1, m - 1)) + std::abs(at(m, m)) + std::abs(at(m + 1, m + 1));
      if (std::abs(at(m, m - 1)) * (std::abs(start.y) + std::abs(start.z)) <=
          work_.rounding * std::abs(start.x) * around)
        break;
    }
    for (int64_t k = m; k < last; ++k) {
      const bool three = k + 1 < last;
      if (k > m) start = {at(k, k - 1), at(k + 1, k - 1), three ? at(k + 2, k - 1) : 0};
      const Reflection by(start.x, start.y, start.z);
      const double before = k > first ? at(k, k - 1) : 0;
      if (by.factor != 0) reflect(k, first, last, three, by);
      if (k == first) continue;
      // Also where these numbers were met by the vectors of their rows.
      at(k, k - 1) = k > m ? by.left : before * (1 - by.factor);
      at(k + 1, k - 1) = 0;
      if (three) at(k + 2, k - 1) = 0;
    }
  }

  void reflect(int64_t k, int64_t first, int64_t last, bool three, const Reflection& by) const {
    const int64_t line = work_.line;
    const auto rows = [&](double* of, int64_t column, int64_t end) {
      double* const row = of + k * line;
      work_.loops.reflect_three(row, row + line, three ? row + 2 * line : work_.p, column, end,
                                by.factor, by.second, by.third);
    };
    const int64_t end = whole() ? line : std::min(line, last + 1);
    rows(work_.h, k, end);
    const double second = by.second, third = by.third, factor = by.factor;
    double* x = &at(whole() ? 0 : first, k);
    double* const after = &at(std::min(k + 3, last), k);
    for (; x <= after; x += line) {
      if (three) {
        const double part = factor * (x[0] + second * x[1] + third * x[2]);
        x[0] -= part;
        x[1] -= part * second;
        x[2] -= part * third;
      } else {
        const double part = factor * (x[0] + second * x[1]);
        x[0] -= part;
        x[1] -= part * second;
      }
    }
    if (whole()) rows(work_.turned, 0, line);
  }

  const GeneralWork& work_;
};

// Column k of z becomes the left eigenvector of number k of the triangle. False where they grow
// beyond what can be told.
bool find_left_vectors(const GeneralWork& work) {
  constexpr double kMost = 1e100;
  const int64_t n = work.n, line = work.line;
  double* const column = work.columns;
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(work.at(i, i)));
  const double least = std::max(work.rounding * largest, kNegligible<double>);
  for (int64_t j = 0; j < n; ++j) {
    double *const row = work.z + j * line, value = work.at(j, j);
    row[j] = 1;
    if (j == 0) continue;
    for (int64_t i = 0; i < j; ++i) column[i] = work.at(i, j);
    work.loops.combine(work.z, line, 0, 0, j, column, -1, work.p);
    for (int64_t k = 0; k < j; ++k) {
      double gap = value - work.at(k, k);
      if (std::abs(gap) < least) gap = std::copysign(least, gap);
      row[k] = work.p[k] / gap;
      if (!(std::abs(row[k]) < kMost)) return false;
    }
  }
  return true;
}

}  // namespace

template <class T>
bool find_general_eigenvectors(int64_t n, const T* a, T* real, T* imaginary, T* v) {
  const RowLoops<double>* const loops = row_loops<double>();
  if (loops == nullptr || n < 2 || n > kMostReflectedRows) return false;
  const int64_t line = row_line<double>(n), square = n * line;
  const int64_t count = (v == nullptr ? 2 : 4) * square + 3 * line;
  const ScopedBlock memory(static_cast<std::size_t>(count) * sizeof(double), "workspace");
  double* at = memory.as<double>();
  std::fill_n(at, count, 0.0);
  const auto next = [&](int64_t numbers) { return std::exchange(at, at + numbers); };
  const GeneralWork work{.loops = *loops,
                         .n = n,
                         .line = line,
                         .h = next(square),
                         .turned = v == nullptr ? nullptr : next(square),
                         .columns = next(square),
                         .z = v == nullptr ? nullptr : next(square),
                         .scale = next(line),
                         .weights = next(line),
                         .p = next(line),
                         .rounding = std::numeric_limits<T>::epsilon()};
  double most = 0;
  for (int64_t i = 0; i < n * n; ++i) most = std::max(most, std::abs(double{a[i]}));
  const RowScale<double> scale(most);
  for (int64_t i = 0; i < n; ++i) {
    work.scale[i] = 1;
    for (int64_t j = 0; j < n; ++j) work.at(j, i) = scale.down(double{a[i * n + j]});
  }
  if (!balance(work)) return false;
  to_hessenberg(work);
  const Found found = FrancisSteps(work).run();
  if (found == Found::kNothing) return false;
  std::fill_n(imaginary, n, static_cast<T>(found == Found::kComplex));
  if (found == Found::kComplex) return true;
  if (v != nullptr) {
    if (!find_left_vectors(work)) return false;
    double* const vectors = work.columns;
    multiply_here(true, false, n, line, n, 1.0, work.z, line, work.turned, line, 0.0, vectors,
                  line);
    for (int64_t k = 0; k < n; ++k) {
      double* const vector = vectors + k * line;
      double squares = 0;
      for (int64_t i = 0; i < n; ++i) {
        vector[i] /= work.scale[i];
        squares += vector[i] * vector[i];
      }
      const double length = std::sqrt(squares);
      for (int64_t i = 0; i < n; ++i) v[k * n + i] = static_cast<T>(vector[i] / length);
    }
  }
  for (int64_t i = 0; i < n; ++i) real[i] = static_cast<T>(scale.up(work.at(i, i)));
  return true;
}

template bool find_general_eigenvectors(int64_t, const float*, float*, float*, float*);
template bool find_general_eigenvectors(int64_t, const double*, double*, double*, double*);

}  // namespace mxnet
