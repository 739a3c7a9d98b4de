// SPDX-License-Identifier: Apache-2.0
// Splitting of matrix products: over the batch when it is large enough, otherwise each product over
// blocks of the longer side of its result.
#include "op/products.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "op/blas.h"
#include "op/moved_bytes.h"
#include "op/parallel.h"

namespace mxnet {
namespace {

// A multiply-add of a matrix product costs about an eighth of an elementary operation.
constexpr double kMultiplyCost = 0.125;

// The block of `rows` x `columns` of product i that begins at (row, column).
template <class T>
void block(const Products<T>& p, std::size_t i, int64_t row, int64_t rows, int64_t column,
           int64_t columns) {
  const T* a = p.a + p.at_a[i] + (p.transpose_a ? row : row * p.lda);
  const T* b = p.b + p.at_b[i] + (p.transpose_b ? column * p.ldb : column);
  T* c = p.c + p.at_c[i] + row * p.ldc + column;
  if constexpr (std::is_same_v<T, int64_t>) {
    for (int64_t r = 0; r < rows; ++r) {
      T* y = c + r * p.ldc;
      if (columns == 1) {  // the sum stays in a register
        const int64_t step_a = p.transpose_a ? p.lda : 1, step_b = p.transpose_b ? 1 : p.ldb;
        const T* x = a + (p.transpose_a ? r : r * p.lda);
        T sum{0};
        for (int64_t l = 0; l < p.k; ++l) sum += x[l * step_a] * b[l * step_b];
        *y = (p.beta == 0 ? 0 : *y * p.beta) + p.alpha * sum;
        continue;
      }
      for (int64_t j = 0; j < columns; ++j) y[j] = p.beta == 0 ? 0 : y[j] * p.beta;
      for (int64_t l = 0; l < p.k; ++l) {
        const T x = p.alpha * (p.transpose_a ? a[l * p.lda + r] : a[r * p.lda + l]);
        for (int64_t j = 0; j < columns; ++j)
          y[j] += x * (p.transpose_b ? b[j * p.ldb + l] : b[l * p.ldb + j]);
      }
    }
  } else {
    blas::gemm(p.transpose_a, p.transpose_b, rows, columns, p.k, p.alpha, a, p.lda, b, p.ldb,
               p.beta, c, p.ldc);
  }
}

// Two long vectors: stretches of them, whose sums are added in order, so that the result is the
// same for any number of threads.
constexpr int64_t kStretch = int64_t{1} << 16;

template <class T>
void multiply_vectors(const Products<T>& p) {
  const int64_t stretches = (p.k + kStretch - 1) / kStretch;
  const int64_t step_a = p.transpose_a ? p.lda : 1, step_b = p.transpose_b ? 1 : p.ldb;
  std::vector<T> sums(static_cast<std::size_t>(stretches));
  parallel_for(
      stretches, kMultiplyCost * static_cast<double>(kStretch),
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t at = i * kStretch;
          blas::gemm(p.transpose_a, p.transpose_b, 1, 1, std::min(kStretch, p.k - at), p.alpha,
                     p.a + p.at_a[0] + at * step_a, p.lda, p.b + p.at_b[0] + at * step_b, p.ldb,
                     T(0), &sums[static_cast<std::size_t>(i)], 1);
        }
      },
      1);
  T& c = p.c[p.at_c[0]];
  const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  c = static_cast<T>(p.beta == 0 ? total
                                 : total + static_cast<double>(p.beta) * static_cast<double>(c));
}

template <class T>
void multiply_all(const Products<T>& p) {
  const auto batch = static_cast<int64_t>(p.at_a.size());
  if constexpr (!std::is_same_v<T, int64_t>) {
    if (batch == 1 && p.m == 1 && p.n == 1 && p.k >= 2 * kStretch) return multiply_vectors(p);
  }
  double cost = kMultiplyCost * static_cast<double>(p.m) * static_cast<double>(p.n) *
                static_cast<double>(std::max<int64_t>(p.k, 1));
  // A vector meets each number of the matrix once, and waits for it.
  if ((p.m == 1) != (p.n == 1)) {
    const int64_t bytes = p.m * p.n * p.k * static_cast<int64_t>(sizeof(T));
    cost = std::max(cost, cost_of_moving(static_cast<double>(bytes)));
  }
  if (batch >= threads_for(batch, cost) && batch > 1) {
    parallel_for(
        batch, cost,
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i)
            block(p, static_cast<std::size_t>(i), 0, p.m, 0, p.n);
        },
        1);
    return;
  }
  for (std::size_t i = 0; i < p.at_a.size(); ++i) {
    if (p.m >= p.n) {
      parallel_for(p.m, cost / static_cast<double>(p.m),
                   [&](int64_t first, int64_t last) { block(p, i, first, last - first, 0, p.n); });
    } else {
      parallel_for(p.n, cost / static_cast<double>(p.n),
                   [&](int64_t first, int64_t last) { block(p, i, 0, p.m, first, last - first); });
    }
  }
}

}  // namespace

void multiply(const Products<float>& products) { multiply_all(products); }
void multiply(const Products<double>& products) { multiply_all(products); }
void multiply(const Products<int64_t>& products) { multiply_all(products); }

}  // namespace mxnet
