// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of small matrices for each instruction set, and calls LAPACK for the others.
#include "op/products/matrix_batches.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/simd.h"
#include "op/moving/strided_kernels.h"
#include "op/products/blas.h"
#include "op/products/cholesky_factors.h"
#include "op/products/lu_factors.h"
#include "op/products/row_reflections.h"

namespace mxnet::matrix_batches {
namespace {

// Rows of the largest matrices that are not LAPACK's, and the most right sides.
constexpr int kMostRows = 32;
// The same of those that are worked on in lanes. That pays where the part of the lanes that have a
// matrix is at least its rows' part of so many: in lanes all rows are exchanged with all others.
constexpr int kMostRowsInLanes = 16, kToFactorise = 16, kToTakeRoots = 64;
// LQ factors are sooner made in lanes than by LAPACK even where one lane alone has a matrix.
constexpr int kMostRowsOfLoneLq = 24;

// Integers of a mask that selects among lanes of T.
template <class T>
using Whole = std::conditional_t<sizeof(T) == sizeof(int32_t), int32_t, int64_t>;

// The least number whose reciprocal is one, and what makes such numbers of all below it.
template <class T>
constexpr T kLeastNormal = std::numeric_limits<T>::min();
template <class T>
constexpr T kToNormal = static_cast<T>(int64_t{1} << std::numeric_limits<T>::digits);

template <class T>
void turn(const T* from, T* to, const StridedLoop& outer, const StridedLoop& inner) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  tile_kernel(kBytes)(reinterpret_cast<const char*>(from), reinterpret_cast<char*>(to), outer,
                      inner, kBytes, false);
}

#define MX_SIMD_FILE "op/products/matrix_batches.inc"
#include "base/simd_wide_targets.h"

// A function of Batch, for matrices of so many rows (or right sides); null where LAPACK is for
// them.
#define MX_IN_VECTORS(rows, ...) \
  ((rows) <= kMostRows ? MX_SIMD_WIDE_AT(simd_level(), __VA_ARGS__) : nullptr)

// fn(i) for each matrix; the info of one that failed.
template <class F>
int each(int64_t count, const F& fn) {
  int worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (const int info = fn(i); info != 0) worst = info;
  }
  return worst;
}

// Of a large matrix.
template <class T>
int factors(int64_t n, T* a, int32_t* pivots) {
  return suits_lu_by_halves(n) ? factorise_by_halves(n, a, pivots)
                               : blas::getrf(n, n, a, n, pivots);
}

}  // namespace

template <class T>
void factorise(int64_t n, int64_t count, T* a, int32_t* pivots) {
  if (n == 0) return;
  if (const auto in_vectors = MX_IN_VECTORS(n, Batch<T>::factorise))
    return in_vectors(static_cast<int>(n), count, a, pivots);
  each(count, [=](int64_t i) { return factors(n, a + i * n * n, pivots + i * n); });
}

template <class T>
int invert(int64_t n, int64_t count, T* a, int32_t* pivots) {
  if (const auto in_vectors = MX_IN_VECTORS(n, Batch<T>::invert))
    return in_vectors(static_cast<int>(n), count, a);
  return each(count, [=](int64_t i) {
    const int info = factors(n, a + i * n * n, pivots + i * n);
    return info != 0 ? info : blas::getri(n, a + i * n * n, pivots + i * n);
  });
}

template <class T>
int solve(int64_t n, int64_t sides, int64_t count, T* a, int32_t* pivots, T* x) {
  if (const auto in_vectors = MX_IN_VECTORS(std::max(n, sides), Batch<T>::solve))
    return in_vectors(static_cast<int>(n), static_cast<int>(sides), count, a, x);
  return each(count, [=](int64_t i) {
    return solve_by_halves(n, sides, a + i * n * n, pivots + i * n, x + i * n * sides);
  });
}

template <class T>
int cholesky(bool lower, int64_t n, int64_t count, T* a) {
  if (const auto in_vectors = MX_IN_VECTORS(n, Batch<T>::cholesky))
    return in_vectors(lower, static_cast<int>(n), count, a);
  return each(count, [=](int64_t i) {
    T* const matrix = a + i * n * n;
    if (n > kMostRows) return factorise_cholesky(lower, n, matrix);
    const int info = blas::potrf(lower, n, matrix);
    clear_other_triangle(lower, n, matrix);
    return info;
  });
}

template <class T>
int lq(int64_t m, int64_t n, int64_t count, int64_t batch, T* q, T* l) {
  if (batch > 1 || n <= kMostRowsOfLoneLq) {
    if (const auto in_vectors = MX_IN_VECTORS(n, Batch<T>::lq))
      return in_vectors(static_cast<int>(m), static_cast<int>(n), count, q, l);
  }
  return each(count, [=](int64_t i) {
    T *const rows = q + i * m * n, *const lower = l + i * m * m;
    return find_lq(m, n, rows, lower) ? 0 : blas::gelqf(m, n, rows, lower);
  });
}

#define MX_INSTANTIATE(T)                                          \
  template void factorise(int64_t, int64_t, T*, int32_t*);         \
  template int invert(int64_t, int64_t, T*, int32_t*);             \
  template int solve(int64_t, int64_t, int64_t, T*, int32_t*, T*); \
  template int cholesky(bool, int64_t, int64_t, T*);               \
  template int lq(int64_t, int64_t, int64_t, int64_t, T*, T*);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet::matrix_batches
