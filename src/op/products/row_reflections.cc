// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set, and decides which matrices are for them.
#include "op/products/row_reflections.h"

#include <algorithm>
#include <cmath>

#include "base/simd.h"
#include "storage/scoped_block.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

// From there on LAPACK's products of blocks are faster.
constexpr int64_t kMostRows = 160;
constexpr int64_t kLineBytes = 64;
// What counts as zero beside a largest number between 1 and 2: its square is far from subnormal.
template <class T>
constexpr T kNegligible = static_cast<T>(sizeof(T) == sizeof(float) ? 1e-12 : 1e-138);

// A matrix in rows that are filled up to whole vectors with zeros, `line` numbers apart; scratch
// and results. Vectors of `line` numbers: d and e the tridiagonal matrix's diagonals, p scratch.
template <class T>
struct EigenWork {
  int64_t n, line;
  T* a;
  T* r;  // null where no eigenvectors are asked for
  T *d, *e, *p;
};
// Of m rows, which `a` holds; those of q are zeros before. l is dense.
template <class T>
struct LqWork {
  int64_t m, line;
  T *a, *q, *l, *weights, *p;
};

// Numbers of rows that are filled up to lines of the caches.
template <class T>
int64_t line_of(int64_t n) {
  constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(T));
  return (n + kLine - 1) / kLine * kLine;
}

#define MX_SIMD_FILE "op/products/row_reflections.inc"
#include "base/simd_wide_targets.h"

}  // namespace

template <class T>
bool find_eigenvectors(bool lower, bool vectors, int64_t n, T* a, T* w) {
  if (simd_level() == 0 || n < 2 || n > kMostRows) return false;
  const int64_t line = line_of<T>(n), square = n * line;
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
  // By a power of two, so that no square is too large or too small.
  const int exponent = most > T{0} ? std::ilogb(most) : 0;
  const int half = exponent / 2;
  const T unit = std::ldexp(T{1}, -half), more = std::ldexp(T{1}, half - exponent);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j)
      at[j * line + i] = at[i * line + j] = at[i * line + j] * unit * more;
  }
  T* const rows = vectors ? at + square : nullptr;
  T* const d = at + count - 3 * line;
  if (!MX_SIMD_WIDE_AT(simd_level(),
                       diagonalise<T>)({n, line, at, rows, d, d + line, d + 2 * line}))
    return false;
  // The order is found by insertion: numbers are sorted already for the most part.
  int32_t order[kMostRows];
  for (int64_t i = 0; i < n; ++i) {
    int64_t place = i;
    for (; place > 0 && d[order[place - 1]] > d[i]; --place) order[place] = order[place - 1];
    order[place] = static_cast<int32_t>(i);
  }
  for (int64_t i = 0; i < n; ++i) {
    w[i] = d[order[i]] / unit / more;
    if (vectors) std::copy_n(rows + order[i] * line, n, a + i * n);
  }
  return true;
}

template <class T>
bool find_lq(int64_t m, int64_t n, T* q, T* l) {
  if (simd_level() == 0 || n > kMostRows) return false;
  const int64_t line = line_of<T>(n), square = m * line, count = 2 * square + 2 * line;
  const ScopedBlock memory(static_cast<std::size_t>(count) * sizeof(T), "workspace");
  T* const at = memory.as<T>();
  std::fill_n(at, count, T{0});
  for (int64_t i = 0; i < m; ++i) std::copy_n(q + i * n, n, at + i * line);
  T *const rows = at + square, *const weights = rows + square;
  if (!MX_SIMD_WIDE_AT(simd_level(),
                       to_lower_triangle<T>)({m, line, at, rows, l, weights, weights + line}))
    return false;
  for (int64_t i = 0; i < m; ++i) std::copy_n(rows + i * line, n, q + i * n);
  return true;
}

template bool find_lq(int64_t, int64_t, float*, float*);
template bool find_lq(int64_t, int64_t, double*, double*);
template bool find_eigenvectors(bool, bool, int64_t, float*, float*);
template bool find_eigenvectors(bool, bool, int64_t, double*, double*);

}  // namespace mxnet
