// SPDX-License-Identifier: Apache-2.0
// A matrix lies here as its transpose: columns of what is factorised are rows of numbers.
#include "op/products/lu_factors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "op/moving/strided_kernels.h"
#include "op/products/blas.h"
#include "op/products/products.h"
#include "op/products/way.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "storage/scoped_block.h"

namespace mxnet {
// Large products are those of way.h only where they are added: the smaller factor is negated.
template <class T>
void subtract_product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                      const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc) {
  static constexpr int64_t kOne[] = {0};
  const bool left = m <= n;
  const int64_t rows = left ? (transpose_a ? k : m) : (transpose_b ? n : k);
  const int64_t columns = left ? (transpose_a ? m : k) : (transpose_b ? k : n);
  const T* from = left ? a : b;
  const int64_t step = left ? lda : ldb;
  const ScopedBlock memory(static_cast<std::size_t>(rows * columns) * sizeof(T), "workspace");
  T* const negated = memory.as<T>();
  parallel_for(rows, cost_of_moving(2.0 * static_cast<double>(columns) * sizeof(T)),
               [&](int64_t first, int64_t last) {
                 for (int64_t r = first; r < last; ++r)
                   for (int64_t i = 0; i < columns; ++i)
                     negated[r * columns + i] = -from[r * step + i];
               });
  const Products<T> product{.transpose_a = transpose_a,
                            .transpose_b = transpose_b,
                            .m = m,
                            .n = n,
                            .k = k,
                            .a = left ? negated : a,
                            .lda = left ? columns : lda,
                            .b = left ? b : negated,
                            .ldb = left ? ldb : columns,
                            .c = c,
                            .ldc = ldc,
                            .alpha = 1,
                            .beta = 1,
                            .at_a = kOne,
                            .at_b = kOne,
                            .at_c = kOne};
  // OpenBLAS's digits depend on how threads share a product.
  if (way_of(product) != Way::kBlas) return multiply(product);
  blas::gemm(transpose_a, transpose_b, m, n, k, T{1}, product.a, product.lda, product.b,
             product.ldb, T{1}, c, ldc);
}

template <class T>
void solve_triangular_by_halves(const TriangularFactor& as, int64_t m, int64_t n, T alpha,
                                const T* a, int64_t lda, T* b, int64_t ldb) {
  constexpr int64_t kSolvedAtOnce = 256;
  const int64_t side = as.right ? n : m;
  if (side <= kSolvedAtOnce) return solve_triangular(as, m, n, alpha, a, lda, b, ldb);
  if (alpha != 1) {
    for (int64_t r = 0; r < m; ++r)
      for (int64_t i = 0; i < n; ++i) b[r * ldb + i] *= alpha;
  }
  const int64_t head = (side / 2 + 15) / 16 * 16, tail = side - head;
  // op(a) has one block beside the two triangles, below or above the diagonal.
  const bool below = as.lower != as.transpose;
  const T* const corner = a + (as.lower ? head * lda : head);
  T* const rest = b + (as.right ? head : head * ldb);
  const auto solve = [&](bool first, T* to) {
    const int64_t size = first ? head : tail;
    solve_triangular_by_halves(as, as.right ? m : size, as.right ? size : n, T{1},
                               first ? a : a + head * (lda + 1), lda, to, ldb);
  };
  // What is solved first takes its part out of the other.
  const bool head_first = below != as.right;
  T *const from = head_first ? b : rest, *const to = head_first ? rest : b;
  const int64_t known = head_first ? head : tail, open = side - known;
  solve(head_first, from);
  if (as.right) {
    subtract_product(false, as.transpose, m, open, known, from, ldb, corner, lda, to, ldb);
  } else {
    subtract_product(as.transpose, false, open, n, known, corner, lda, from, ldb, to, ldb);
  }
  solve(!head_first, to);
}

namespace {

// Columns that LAPACK factorises at once.
constexpr int64_t kAtOnce = 64;

// Exchanges of rows [0, count), by pivots from 1 on, in each of `lines` columns.
template <class T>
void exchange(int64_t lines, T* a, int64_t line, int64_t count, const int32_t* pivots) {
  constexpr double kCost = 16;  // of an exchange, 4 ns
  parallel_for(lines, kCost * static_cast<double>(count), [&](int64_t first, int64_t last) {
    for (T *column = a + first * line, *end = a + last * line; column < end; column += line) {
      for (int64_t i = 0; i < count; ++i) std::swap(column[i], column[pivots[i] - 1]);
    }
  });
}

// While it lives, the n numbers of a diagonal are ones.
template <class T>
class UnitDiagonal {
 public:
  UnitDiagonal(int64_t n, T* a, int64_t line) : a_(a), step_(line + 1) {
    kept_.reserve(static_cast<std::size_t>(n));
    for (int64_t i = 0; i < n; ++i) kept_.push_back(std::exchange(a[i * step_], T{1}));
  }
  ~UnitDiagonal() {
    for (T number : kept_) {
      *a_ = number;
      a_ += step_;
    }
  }
  UnitDiagonal(const UnitDiagonal&) = delete;
  UnitDiagonal& operator=(const UnitDiagonal&) = delete;

 private:
  T* a_;
  const int64_t step_;
  std::vector<T> kept_;
};

// The first m numbers of n lines, m >= n.
template <class T>
int factorise_lines(int64_t m, int64_t n, T* a, int64_t line, int32_t* pivots) {
  if (n <= kAtOnce) return blas::getrf(m, n, a, line, pivots);
  const int64_t head = (n / 2 + kAtOnce - 1) / kAtOnce * kAtOnce, tail = n - head;
  T *const others = a + head * line, *const rest = others + head;
  const int info = factorise_lines(m, head, a, line, pivots);
  exchange(tail, others, line, head, pivots);
  {
    const UnitDiagonal<T> unit(head, a, line);
    solve_triangular_by_halves({true, false, false}, tail, head, T{1}, a, line, others, line);
  }
  subtract_product(false, false, tail, m - head, head, others, line, a + head, line, rest, line);
  int32_t* const later = pivots + head;
  const int second = factorise_lines(m - head, tail, rest, line, later);
  exchange(head, a + head, line, tail, later);
  for (int64_t i = 0; i < tail; ++i) later[i] += static_cast<int32_t>(head);
  return info != 0 || second == 0 ? info : second + static_cast<int>(head);
}

}  // namespace

bool suits_lu_by_halves(int64_t n) { return n > 2 * kAtOnce; }

template <class T>
int factorise_by_halves(int64_t n, T* a, int32_t* pivots) {
  return factorise_lines(n, n, a, n, pivots);
}

template <class T>
int solve_by_halves(int64_t n, int64_t sides, T* a, int32_t* pivots, T* x) {
  constexpr int64_t kBytes = sizeof(T), kLine = 64;
  const ScopedBlock memory(static_cast<std::size_t>(n * n * kBytes), "workspace");
  T* const lines = memory.as<T>();
  parallel_for(
      n, cost_of_moving(static_cast<double>(2 * n * kBytes)),
      [&](int64_t first, int64_t last) {
        tile_kernel(kBytes)(
            reinterpret_cast<const char*>(a + first), reinterpret_cast<char*>(lines + first * n),
            {last - first, kBytes, n * kBytes}, {n, n * kBytes, kBytes}, kBytes, false);
      },
      kLine / kBytes);
  if (const int info = factorise_lines(n, n, lines, n, pivots); info != 0) return info;
  parallel_for(
      sides, cost_of_moving(static_cast<double>(4 * n * kBytes)),
      [&](int64_t first, int64_t last) {
        for (int64_t i = 0; i < n; ++i) {
          if (const int64_t at = pivots[i] - 1; at != i)
            std::swap_ranges(x + i * sides + first, x + i * sides + last, x + at * sides + first);
        }
      },
      kLine / kBytes);
  {
    const UnitDiagonal<T> unit(n, lines, n);
    solve_triangular_by_halves({false, false, true}, n, sides, T{1}, lines, n, x, sides);
  }
  solve_triangular_by_halves({false, true, true}, n, sides, T{1}, lines, n, x, sides);
  return 0;
}

#define MX_INSTANTIATE(T)                                                                  \
  template void subtract_product(bool, bool, int64_t, int64_t, int64_t, const T*, int64_t, \
                                 const T*, int64_t, T*, int64_t);                          \
  template int factorise_by_halves(int64_t, T*, int32_t*);                                 \
  template int solve_by_halves(int64_t, int64_t, T*, int32_t*, T*);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet
