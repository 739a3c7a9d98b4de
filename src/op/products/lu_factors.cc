// SPDX-License-Identifier: Apache-2.0
// A matrix lies here as its transpose: columns of what is factorised are rows of numbers.
#include "op/products/lu_factors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "op/moving/strided_kernels.h"
#include "op/products/blas.h"
#include "op/products/products.h"
#include "op/run/parallel.h"
#include "storage/scoped_block.h"

namespace mxnet {
namespace {

// Columns that LAPACK factorises at once.
constexpr int64_t kAtOnce = 64;

// Exchanges of rows [0, count), by pivots from 1 on, in each of `lines` columns.
template <class T>
void exchange(int64_t lines, T* a, int64_t line, int64_t count, const int32_t* pivots) {
  parallel_for(lines, static_cast<double>(count), [&](int64_t first, int64_t last) {
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
  subtract_product<T>(false, false, tail, m - head, head, others, line, a + head, line, rest, line);
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
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  const ScopedBlock memory(static_cast<std::size_t>(n * n * kBytes), "workspace");
  T* const lines = memory.as<T>();
  tile_kernel(kBytes)(reinterpret_cast<const char*>(a), reinterpret_cast<char*>(lines),
                      {n, kBytes, n * kBytes}, {n, n * kBytes, kBytes}, kBytes, false);
  if (const int info = factorise_lines(n, n, lines, n, pivots); info != 0) return info;
  for (int64_t i = 0; i < n; ++i) {
    if (const int64_t at = pivots[i] - 1; at != i)
      std::swap_ranges(x + i * sides, x + (i + 1) * sides, x + at * sides);
  }
  {
    const UnitDiagonal<T> unit(n, lines, n);
    solve_triangular_by_halves({false, false, true}, n, sides, T{1}, lines, n, x, sides);
  }
  solve_triangular_by_halves({false, true, true}, n, sides, T{1}, lines, n, x, sides);
  return 0;
}

#define MX_INSTANTIATE(T)                                  \
  template int factorise_by_halves(int64_t, T*, int32_t*); \
  template int solve_by_halves(int64_t, int64_t, T*, int32_t*, T*);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet
