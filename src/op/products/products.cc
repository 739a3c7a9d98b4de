// SPDX-License-Identifier: Apache-2.0
// Splitting of matrix products: over the batch when it is large enough, otherwise each product over
// blocks of the longer side of its result.
#include "op/products/products.h"

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "op/products/blas.h"
#include "op/products/integer_products.h"
#include "op/products/matrix_vector.h"
#include "op/products/packed_gemm.h"
#include "op/products/row_dots.h"
#include "op/products/small_products.h"
#include "op/products/thin_products.h"
#include "op/products/unpacked_gemm.h"
#include "op/products/way.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "storage/scoped_block.h"

namespace mxnet {
namespace {

// A multiply-add of a matrix product costs about an eighth of an elementary operation, one of
// floats less, of which vectors hold more: 64 products of 32 x 32 take 19 us, and two threads 14.
template <class T>
constexpr double kMultiplyCost = std::is_same_v<T, float> ? 0.1 : 0.125;

// A matrix that is read and not written comes in half of the time.
double cost_of_reading(double bytes) { return cost_of_moving(bytes) / 2; }

// What a product costs that meets numbers as often as arithmetic takes; of a few rows or a vector,
// which meet each number of a matrix a few times and wait for it, what moving the matrix does.
template <class T>
double cost_of(const Products<T>& p, bool waits) {
  const double cost = kMultiplyCost<T> * static_cast<double>(p.m) * static_cast<double>(p.n) *
                      static_cast<double>(std::max<int64_t>(p.k, 1));
  if (!waits && (p.m == 1) == (p.n == 1)) return cost;
  const int64_t bytes = std::max(p.m, p.n) * p.k * static_cast<int64_t>(sizeof(T));
  return std::max(cost, cost_of_reading(static_cast<double>(bytes)));
}

// --- One block, on the calling thread

// The factors and the result of a block of `rows` x `columns`.
template <class T>
struct Block {
  int64_t rows, columns;
  const T *a, *b;
  T* c;
};
// Of product i, from (row, column) on.
template <class T>
Block<T> block_of(const Products<T>& p, int64_t i, int64_t row, int64_t rows, int64_t column,
                  int64_t columns) {
  return {rows, columns, p.a_of(i) + (p.transpose_a ? row : row * p.lda),
          p.b_of(i) + (p.transpose_b ? column * p.ldb : column), p.c_of(i) + row * p.ldc + column};
}

// Steps from row to row and from column to column.
template <class T>
packed_gemm::View<T> left_view(const Products<T>& p, const T* a) {
  return {a, p.transpose_a ? 1 : p.lda, p.transpose_a ? p.lda : 1};
}
template <class T>
packed_gemm::View<T> right_view(const Products<T>& p, const T* b) {
  return {b, p.transpose_b ? 1 : p.ldb, p.transpose_b ? p.ldb : 1};
}

template <class T>
[[gnu::noinline]] void multiply_one_slice(const Products<T>& p, const Block<T>& block) {
  const auto count = static_cast<std::size_t>(packed_gemm::packed_size<T>(p.k, block.columns));
  const ScopedBlock memory(count * sizeof(T), "workspace");
  T* const packed = memory.as<T>();
  packed_gemm::pack<T>(right_view(p, block.b), p.k, block.columns, 0, block.columns, packed);
  packed_gemm::multiply<T>(block.rows, block.columns, p.k, {block.a, p.lda, 1}, packed, block.c,
                           p.ldc, p.beta != 0, 0, block.columns);
}

template <class T>
void multiply_block(const Products<T>& p, Way way, const Block<T>& block) {
  const auto [rows, columns, a, b, c] = block;
  switch (way) {
    case Way::kThin:  // the longer side is the one that is split
      return multiply_thin(p.n <= p.m, p.transpose_a, p.transpose_b, rows, columns, p.k, a, p.lda,
                           b, p.ldb, c, p.ldc);
    case Way::kOuter:
      if (columns < kOuterRow) break;  // a thread's part
      return outer_product_loop<T>()(rows, columns, a, p.transpose_a ? 1 : p.lda, b, c, p.ldc);
    case Way::kOpen:
      return unpacked_gemm::multiply<T>(rows, columns, p.k, left_view(p, a), right_view(p, b), c,
                                        p.ldc, p.alpha, p.beta);
    case Way::kOneSlice:
      return multiply_one_slice(p, block);
    case Way::kByVector:
      if constexpr (std::is_same_v<T, float>) {
        const bool left = p.n == 1;  // whether the matrix is
        return multiply_by_vector(rows * columns, p.k, left ? a : b, left ? p.lda : p.ldb,
                                  left ? b : a, c);
      }
      break;
    default:
      break;
  }
  blas::gemm(p.transpose_a, p.transpose_b, rows, columns, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta,
             c, p.ldc);
}

// --- Threads

// Calls block(i, row, rows, column, columns) for all of each product.
template <class T, class MakeBlock>
void in_threads(const Products<T>& p, double cost, const MakeBlock& make) {
  const int64_t batch = p.count();
  if (batch >= threads_for(batch, cost) && batch > 1) {
    parallel_for(
        batch, cost,
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) make(i, 0, p.m, 0, p.n);
        },
        1);
    return;
  }
  for (int64_t i = 0; i < batch; ++i) {
    if (p.m >= p.n) {
      parallel_for(p.m, cost / static_cast<double>(p.m),
                   [&](int64_t first, int64_t last) { make(i, first, last - first, 0, p.n); });
    } else {
      parallel_for(p.n, cost / static_cast<double>(p.n),
                   [&](int64_t first, int64_t last) { make(i, 0, p.m, first, last - first); });
    }
  }
}

// In slices of their depth: batches that occupy all threads one product a thread, others by all.
template <class T>
void multiply_all_in_slices(const Products<T>& p) {
  const int64_t batch = p.count();
  const auto multiply = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      packed_gemm::multiply_in_slices<T>(p.m, p.n, p.k, left_view(p, p.a_of(i)),
                                         right_view(p, p.b_of(i)), p.c_of(i), p.ldc, p.beta != 0);
  };
  const double cost = cost_of(p, false);
  if (batch >= threads_for(batch, cost) && batch > 1) return parallel_for(batch, cost, multiply, 1);
  multiply(0, batch);
}

// Few numbers of much depth: stretches of it, whose sums are added in order, so that the result is
// the same for any number of threads.
template <class T>
int64_t stretch_of(const Products<T>& p) {
  // More rows are shared among threads, 16 at a time.
  constexpr int64_t kFew = 24, kOfVectors = int64_t{1} << 16, kOfMatrices = int64_t{1} << 12;
  const int64_t stretch = p.m == 1 && p.n == 1 ? kOfVectors : kOfMatrices;
  const bool is_deep = p.count() == 1 && std::max(p.m, p.n) <= kFew && p.k >= 2 * stretch;
  return is_deep ? stretch : 0;
}
// multiply(part, block) makes one.
template <class T, class Multiply>
void multiply_stretches(const Products<T>& p, int64_t stretch, const Multiply& multiply) {
  using Sum = std::conditional_t<std::is_integral_v<T>, T, double>;
  const int64_t stretches = (p.k + stretch - 1) / stretch, size = p.m * p.n;
  const int64_t step_a = p.transpose_a ? p.lda : 1, step_b = p.transpose_b ? 1 : p.ldb;
  std::vector<T> sums(static_cast<std::size_t>(stretches * size));
  // Each number is met a few times, and waited for.
  const double cost =
      std::max(kMultiplyCost<T> * static_cast<double>(stretch * size),
               cost_of_moving(static_cast<double>((p.m + p.n) * stretch) * sizeof(T)));
  parallel_for(
      stretches, cost,
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t at = i * stretch;
          Products<T> part = p;
          part.k = std::min(stretch, p.k - at);
          part.beta = T(0);
          part.ldc = p.n;
          multiply(part, Block<T>{p.m, p.n, p.a_of(0) + at * step_a, p.b_of(0) + at * step_b,
                                  &sums[static_cast<std::size_t>(i * size)]});
        }
      },
      1);
  for (int64_t j = 0; j < size; ++j) {
    T& c = p.c_of(0)[j / p.n * p.ldc + j % p.n];
    Sum total{0};
    for (int64_t i = 0; i < stretches; ++i) total += sums[static_cast<std::size_t>(i * size + j)];
    c = static_cast<T>(p.beta == 0 ? total
                                   : total + static_cast<Sum>(p.beta) * static_cast<Sum>(c));
  }
}

// --- Many small products

// Products [first, last).
template <class T>
void multiply_by_rows(const Products<T>& p, int64_t first, int64_t last) {
  for (int64_t end; first < last; first = end) {
    const int64_t start = first / p.series * p.series;
    end = std::min(last, start + p.series);
    const SmallProducts<T> series{p.m,
                                  p.n,
                                  p.k,
                                  p.a_of(start),
                                  p.transpose_a ? 1 : p.lda,
                                  p.transpose_a ? p.lda : 1,
                                  p.step_a,
                                  p.b_of(start),
                                  p.transpose_b ? 1 : p.ldb,
                                  p.transpose_b && p.n > 1 ? p.ldb : 1,
                                  p.step_b,
                                  p.c_of(start),
                                  p.ldc,
                                  p.step_c,
                                  p.alpha};
    small_product_loop<T>()(series, p.series, first - start, end - start);
  }
}

// In threads: of one product by its rows, where there are many.
template <class T>
void multiply_all_by_rows(const Products<T>& p) {
  const int64_t bytes = (p.m * p.k + p.k * p.n + p.m * p.n) * static_cast<int64_t>(sizeof(T));
  const double cost = std::max(cost_of(p, false), cost_of_moving(static_cast<double>(bytes)));
  if (p.count() > 1 || p.m <= kSmallSide)
    return parallel_for(
        p.count(), cost, [&](int64_t first, int64_t last) { multiply_by_rows(p, first, last); }, 1);
  parallel_for(p.m, cost / static_cast<double>(p.m), [&](int64_t first, int64_t last) {
    Products<T> part = p;
    part.a += first * (p.transpose_a ? 1 : p.lda);
    part.c += first * p.ldc;
    part.m = last - first;
    multiply_by_rows(part, 0, 1);
  });
}

template <class T>
void multiply_row_dots(const Products<T>& p) {
  const auto loop = row_dots_loop<T>();
  const double cost = cost_of_moving(static_cast<double>(2 * p.k + 1) * sizeof(T));
  parallel_for(p.count(), cost, [&](int64_t first, int64_t last) {
    for (int64_t end; first < last; first = end) {
      const int64_t start = first / p.series * p.series;
      end = std::min(last, start + p.series);
      loop(
          {p.k, p.a_of(start), p.step_a, p.b_of(start), p.step_b, p.c_of(start), p.step_c, p.alpha},
          first - start, end - start);
    }
  });
}

template <class T>
void multiply_vector_dots(const Products<T>& p) {
  const bool left = p.n == 1;  // whether the rows are
  const int64_t rows = left ? p.m : p.n;
  const auto loop = row_dots_loop<T>();
  const double cost = cost_of_moving(static_cast<double>((rows + 1) * p.k) * sizeof(T));
  parallel_for(p.count(), cost, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      loop({p.k, p.a_of(i), left ? p.lda : 0, p.b_of(i), left ? 0 : p.ldb, p.c_of(i),
            left ? p.ldc : 1, p.alpha},
           0, rows);
  });
}

// Many small matrices, the columns of each of which meet a vector: the vector on the left, they are
// met by rows.
template <std::floating_point T>
bool is_left_vector(const Products<T>& p) {
  return p.n == 1 && p.m > 1 && p.transpose_a && p.ldc == 1 && p.count() > 1 && p.k > 1 &&
         p.m <= kFlatSide && p.k <= kFlatSide;
}
template <class T>
Products<T> with_left_vector(const Products<T>& p) {
  Products<T> turned = p;
  turned.transpose_a = !p.transpose_b;
  turned.transpose_b = false;
  std::swap(turned.m, turned.n);
  std::swap(turned.a, turned.b);
  std::swap(turned.lda, turned.ldb);
  std::swap(turned.at_a, turned.at_b);
  std::swap(turned.step_a, turned.step_b);
  turned.ldc = p.m;
  return turned;
}

// --- All

template <std::unsigned_integral T>
void multiply_all(const Products<T>& p) {
  const auto multiply = [](const Products<T>& part, const Block<T>& block) {
    multiply_integers(part, block.rows, block.columns, block.a, block.b, block.c);
  };
  if (const int64_t stretch = stretch_of(p)) return multiply_stretches(p, stretch, multiply);
  in_threads(p, cost_of(p, false), [&](auto... place) { multiply(p, block_of(p, place...)); });
}

template <std::floating_point T>
void multiply_all(const Products<T>& p) {
  if (is_left_vector(p)) return multiply_all(with_left_vector(p));
  if (const int64_t stretch = stretch_of(p)) {
    return multiply_stretches(p, stretch, [](const Products<T>& part, const Block<T>& block) {
      multiply_block(part, way_of_blocks(part), block);
    });
  }
  switch (const Way way = way_of(p)) {
    case Way::kRowDots:
      return multiply_row_dots(p);
    case Way::kVectorDots:
      return multiply_vector_dots(p);
    case Way::kByRows:
      return multiply_all_by_rows(p);
    case Way::kInSlices:
      return multiply_all_in_slices(p);
    default: {
      // Outer products wait for what they write.
      const double written = static_cast<double>(p.m) * static_cast<double>(p.n) * sizeof(T);
      const double cost =
          way == Way::kOuter ? cost_of_moving(written) : cost_of(p, way == Way::kThin);
      in_threads(p, cost, [&](auto... place) { multiply_block(p, way, block_of(p, place...)); });
    }
  }
}

}  // namespace

template <std::floating_point T>
void multiply_here(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, T alpha,
                   const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (alpha == 0 || !suits_open_tiles<T>(transpose_a, transpose_b, m, n, k, lda))
    return blas::gemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  unpacked_gemm::multiply<T>(m, n, k, {a, transpose_a ? 1 : lda, transpose_a ? lda : 1},
                             {b, transpose_b ? 1 : ldb, transpose_b ? ldb : 1}, c, ldc, alpha,
                             beta);
}
template void multiply_here(bool, bool, int64_t, int64_t, int64_t, float, const float*, int64_t,
                            const float*, int64_t, float, float*, int64_t);
template void multiply_here(bool, bool, int64_t, int64_t, int64_t, double, const double*, int64_t,
                            const double*, int64_t, double, double*, int64_t);

template <std::floating_point T>
void multiply_few(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
                  const T* b, T* c) {
  const int64_t lda = transpose_a ? m : k, ldb = transpose_b ? k : n;
  const int64_t row_a = transpose_a ? 1 : lda, column_a = transpose_a ? lda : 1;
  if (n > 1 && suits_rows<T>(transpose_a, transpose_b, m, n, k)) {
    if (const auto loop = small_product_loop<T>()) {
      return loop({m, n, k, a, row_a, column_a, 0, b, transpose_b ? 1 : ldb, transpose_b ? ldb : 1,
                   0, c, n, m * n, T{1}},
                  1, 0, 1);
    }
  }
  if (suits_outer(n, k, true)) {
    if (const auto loop = outer_product_loop<T>()) return loop(m, n, a, row_a, b, c, n);
  }
  if (suits_few<T>(transpose_a, transpose_b, m, n, k, lda))
    return multiply_thin(n <= m, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c, n);
  multiply_here(transpose_a, transpose_b, m, n, k, T{1}, a, lda, b, ldb, T{0}, c, n);
}
template void multiply_few(bool, bool, int64_t, int64_t, int64_t, const float*, const float*,
                           float*);
template void multiply_few(bool, bool, int64_t, int64_t, int64_t, const double*, const double*,
                           double*);

template <class T>
void multiply_batch(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    int64_t count, const T* a, const T* b, T* c, T alpha, T beta) {
  static constexpr int64_t kStart[] = {0};
  multiply(Products<T>{.transpose_a = transpose_a,
                       .transpose_b = transpose_b,
                       .m = m,
                       .n = n,
                       .k = k,
                       .a = a,
                       .lda = transpose_a ? m : k,
                       .b = b,
                       .ldb = transpose_b ? k : n,
                       .c = c,
                       .ldc = n,
                       .alpha = alpha,
                       .beta = beta,
                       .at_a = kStart,
                       .at_b = kStart,
                       .at_c = kStart,
                       .series = count,
                       .step_a = m * k,
                       .step_b = k * n,
                       .step_c = m * n});
}
template void multiply_batch(bool, bool, int64_t, int64_t, int64_t, int64_t, const float*,
                             const float*, float*, float, float);
template void multiply_batch(bool, bool, int64_t, int64_t, int64_t, int64_t, const double*,
                             const double*, double*, double, double);
template void multiply_batch(bool, bool, int64_t, int64_t, int64_t, int64_t, const uint32_t*,
                             const uint32_t*, uint32_t*, uint32_t, uint32_t);
template void multiply_batch(bool, bool, int64_t, int64_t, int64_t, int64_t, const uint64_t*,
                             const uint64_t*, uint64_t*, uint64_t, uint64_t);

void multiply(const Products<float>& products) { multiply_all(products); }
void multiply(const Products<double>& products) { multiply_all(products); }
void multiply(const Products<uint32_t>& products) { multiply_all(products); }
void multiply(const Products<uint64_t>& products) { multiply_all(products); }

}  // namespace mxnet
