// SPDX-License-Identifier: Apache-2.0
// Halves one after the other, down to what is factorised in vectors; inverses by stripes.
#include "op/products/cholesky_factors.h"

#include <algorithm>

#include "op/products/lu_factors.h"
#include "op/products/matrix_batches.h"
#include "op/products/products.h"
#include "op/run/parallel.h"
#include "storage/scoped_block.h"

namespace mxnet {
namespace {

constexpr int64_t kAtOnce = 32;

// The inverse of a matrix of so few rows that vectors and panels would be empty for the most part.
constexpr int64_t kFew = 8;
template <class T>
void invert_few(bool lower, int64_t n, T* a) {
  T inverse[kFew][kFew];  // of the lower factor
  const int64_t row = lower ? n : 1, column = lower ? 1 : n;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      T sum = i == j ? T{1} : T{0};
      for (int64_t l = j; l < i; ++l) sum -= a[i * row + l * column] * inverse[l][j];
      inverse[i][j] = sum / a[i * (n + 1)];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      T sum{0};
      for (int64_t l = i; l < n; ++l) sum += inverse[l][i] * inverse[l][j];
      a[i * n + j] = a[j * n + i] = sum;
    }
  }
}

// What the other triangle holds is left undefined.
template <class T>
int factorise_lines(bool lower, int64_t n, T* a, int64_t line) {
  if (n <= kAtOnce) {
    T block[kAtOnce * kAtOnce];
    for (int64_t r = 0; r < n; ++r) std::copy_n(a + r * line, n, block + r * n);
    const int info = matrix_batches::cholesky(lower, n, 1, block);
    for (int64_t r = 0; r < n; ++r) std::copy_n(block + r * n, n, a + r * line);
    return info;
  }
  const int64_t head = (n / 2 + 15) / 16 * 16, tail = n - head;
  if (const int info = factorise_lines(lower, head, a, line); info != 0) return info;
  T *const beside = a + (lower ? head * line : head), *const rest = a + head * (line + 1);
  solve_triangular_by_halves({lower, lower, true}, lower ? tail : head, lower ? head : tail, T{1},
                             a, line, beside, line);
  subtract_product(!lower, lower, tail, tail, head, beside, line, beside, line, rest, line);
  const int info = factorise_lines(lower, tail, rest, line);
  return info == 0 ? 0 : info + static_cast<int>(head);
}

}  // namespace

template <class T>
int factorise_cholesky(bool lower, int64_t n, T* a) {
  const int info = factorise_lines(lower, n, a, n);
  clear_other_triangle(lower, n, a);
  return info;
}

template <class T>
int invert_by_cholesky(bool lower, int64_t n, T* a) {
  for (int64_t i = 0; i < n; ++i)
    if (a[i * n + i] == T{0}) return static_cast<int>(i) + 1;
  if (n <= kFew) {
    invert_few(lower, n, a);
    return 0;
  }
  // Stripes of the inverse of the lower factor: from where they begin to be other than zero.
  constexpr int64_t kStripe = 64;
  const ScopedBlock memory(static_cast<std::size_t>(n * n) * sizeof(T), "workspace");
  T* const inverse = memory.as<T>();
  const int64_t stripes = (n + kStripe - 1) / kStripe;
  const double cost = 0.125 * static_cast<double>(n * n) * kStripe;
  const auto solve = [&](int64_t stripe) {
    const int64_t start = stripe * kStripe, width = std::min(kStripe, n - start);
    T* const x = inverse + start * (n + 1);
    for (int64_t r = 0; r < n - start; ++r) {
      std::fill_n(x + r * n, width, T{0});
      if (r < width) x[r * (n + 1)] = 1;
    }
    solve_triangular_by_halves({false, lower, !lower}, n - start, width, T{1}, a + start * (n + 1),
                               n, x, n);
  };
  // The first and the last one together, which are as much work as others.
  parallel_for((stripes + 1) / 2, cost,
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i) {
                   solve(i);
                   if (i != stripes - 1 - i) solve(stripes - 1 - i);
                 }
               },
               1);
  parallel_for(
      stripes, cost,
      [&](int64_t first, int64_t last) {
        for (int64_t start = first * kStripe; start < std::min(n, last * kStripe);
             start += kStripe) {
          const int64_t height = std::min(kStripe, n - start);
          const T* const rows = inverse + start * n;
          multiply_here(true, false, height, start + height, n - start, T{1}, rows + start, n, rows,
                        n, T{0}, a + start * n, n);
        }
      },
      1);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
  return 0;
}

#define MX_INSTANTIATE(T)                             \
  template int factorise_cholesky(bool, int64_t, T*); \
  template int invert_by_cholesky(bool, int64_t, T*);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet
