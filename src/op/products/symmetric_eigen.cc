// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set, and decides which matrices are for them.
#include "op/products/symmetric_eigen.h"

#include <algorithm>
#include <cmath>

#include "base/simd.h"
#include "storage/scoped_block.h"

namespace mxnet {
namespace {

// From there on LAPACK's products of blocks are faster.
constexpr int64_t kMostRows = 160;
constexpr int64_t kLineBytes = 64;

// A matrix in rows that are filled up to whole vectors with zeros, `line` numbers apart; scratch
// and results. Vectors of `line` numbers: d and e the tridiagonal matrix's diagonals, p scratch.
template <class T>
struct EigenWork {
  int64_t n, line;
  T* a;
  T* r;  // null where no eigenvectors are asked for
  T *d, *e, *p;
};

#define MX_SIMD_FILE "op/products/symmetric_eigen.inc"
#include "base/simd_wide_targets.h"

}  // namespace

template <class T>
bool find_eigenvectors(bool lower, bool vectors, int64_t n, T* a, T* w) {
  bool (*const run)(const EigenWork<T>&) = MX_SIMD_WIDE_AT(simd_level(), diagonalise<T>);
  if (run == nullptr || n < 2 || n > kMostRows) return false;
  constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(T));
  const int64_t line = (n + kLine - 1) / kLine * kLine, square = n * line;
  const int64_t count = square * (vectors ? 2 : 1) + 3 * line;
  const ScopedBlock memory(static_cast<std::size_t>(count) * sizeof(T), "workspace");
  T* const at = memory.as<T>();
  std::fill_n(at, count, T{0});
  T most{0};
  for (int64_t i = 0; i < n; ++i) {
    const T* const row = a + i * n;
    for (int64_t j = lower ? 0 : i; j < (lower ? i + 1 : n); ++j)
      most = std::max(most, std::abs(row[j]));
  }
  // By a power of two, so that no square is too large or too small.
  const int exponent = most > T{0} ? std::ilogb(most) : 0;
  const int half = exponent / 2;
  const T unit = std::ldexp(T{1}, -half), more = std::ldexp(T{1}, half - exponent);
  for (int64_t i = 0; i < n; ++i) {
    const T* const row = a + i * n;
    for (int64_t j = lower ? 0 : i; j < (lower ? i + 1 : n); ++j)
      at[i * line + j] = at[j * line + i] = row[j] * unit * more;
  }
  T* const rows = vectors ? at + square : nullptr;
  T* const d = at + count - 3 * line;
  if (!run({n, line, at, rows, d, d + line, d + 2 * line})) return false;
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

template bool find_eigenvectors(bool, bool, int64_t, float*, float*);
template bool find_eigenvectors(bool, bool, int64_t, double*, double*);

}  // namespace mxnet
