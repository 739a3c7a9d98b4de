// SPDX-License-Identifier: Apache-2.0
// Splitting of matrix products: over the batch when it is large enough, otherwise each product over
// blocks of the longer side of its result.
#include "op/products/products.h"

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "op/moving/strided_kernels.h"
#include "op/products/blas.h"
#include "op/products/integer_products.h"
#include "op/products/matrix_vector.h"
#include "op/products/packed_gemm.h"
#include "op/products/row_dots.h"
#include "op/products/small_products.h"
#include "op/products/thin_products.h"
#include "op/products/unpacked_gemm.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "storage/scoped_block.h"

namespace mxnet {
namespace {

// A multiply-add of a matrix product costs about an eighth of an elementary operation.
constexpr double kMultiplyCost = 0.125;

// `count` numbers at steps as neighbours: where they are, or in a copy.
template <class T>
const T* gathered(const T* from, int64_t step, int64_t count, std::vector<T>* copy) {
  if (step == 1 || count == 0) return from;
  copy->resize(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) (*copy)[static_cast<std::size_t>(i)] = from[i * step];
  return copy->data();
}

// `columns` of k numbers each, `step` apart, become rows.
template <class T>
std::vector<T> turned(const T* from, int64_t step, int64_t columns, int64_t k) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  std::vector<T> rows(static_cast<std::size_t>(columns * k));
  tile_kernel(kBytes)(reinterpret_cast<const char*>(from), reinterpret_cast<char*>(rows.data()),
                      {k, kBytes, columns * kBytes}, {columns, step * kBytes, kBytes}, kBytes,
                      false);
  return rows;
}

// A block of a product of integers. Columns that lie as rows do are turned, for a few rows met as
// they are.
template <std::unsigned_integral T>
void integer_block(const Products<T>& p, int64_t rows, int64_t columns, const T* a, const T* b,
                   T* c) {
  constexpr int64_t kFewRows = 8;
  const IntegerProducts<T> loops = integer_products<T>();
  const auto multiply = [&](const T* right, int64_t row) {
    loops.multiply({rows, columns, p.k, a, p.transpose_a ? 1 : p.lda, p.transpose_a ? p.lda : 1,
                    right, row, c, p.ldc, p.alpha, p.beta});
  };
  if (!p.transpose_b && columns > 1) return multiply(b, p.ldb);
  if (p.transpose_b && columns > 1 && rows >= kFewRows)
    return multiply(turned(b, p.ldb, columns, p.k).data(), columns);
  std::vector<T> copied_row, copied_column;
  if (!p.transpose_b) b = gathered(b, p.ldb, p.k, &copied_column);
  for (int64_t r = 0; r < rows; ++r) {
    const T* x = p.transpose_a ? gathered(a + r, p.lda, p.k, &copied_row) : a + r * p.lda;
    T* y = c + r * p.ldc;
    for (int64_t j = 0; j < columns; ++j) {
      const T product = p.alpha * loops.dot(x, b + j * p.ldb, p.k);
      y[j] = p.beta == 0 ? product : product + p.beta * y[j];
    }
  }
}

template <class T>
double multiplications(const Products<T>& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

// Whether products are made of panels that are packed here, which is better than OpenBLAS where
// tiles are tall (Cascade Lake). Smaller products OpenBLAS does not pack either, and is faster; so
// it is for a vector, and where much of each vector of a panel is empty and there is little depth.
// The whole product decides, and not how it is split: that is no matter of digits.
template <class T>
bool is_packed(const Products<T>& p) {
  constexpr int64_t kFewRows = 32;
  // Vectors of doubles are half as many; 1 means none but a vector.
  constexpr int64_t kFewColumns = sizeof(T) == sizeof(float) ? 12 : 1, kLittleDepth = 128;
  if (p.n == 1 || p.k == 1 || (p.n <= kFewColumns && p.k < kLittleDepth)) return false;
  return packed_gemm::has_tall_tiles() && p.alpha == 1 && (p.beta == 0 || p.beta == 1) &&
         p.m >= kFewRows && multiplications(p) > 1e6;
}

// Whether the left factor can stay where it is and the right one stays in the second-level cache,
// in one slice of its depth.
template <class T>
bool is_one_slice(const Products<T>& p) {
  constexpr int64_t kDepthBytes = 2048, kPackedBytes = int64_t{1} << 20;
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  return !p.transpose_a && p.k * kItem <= kDepthBytes && p.n * p.k <= kPackedBytes / kItem;
}

// How many multiplications OpenBLAS makes without packing, unless it turns the right factor for
// them.
constexpr double kUnpacked = 1e6;
// Whether the product is faster of factors where they lie, on processors where tiles for that gain:
// not where a slice of the right factor leaves the second-level cache before many rows have met it,
// nor, of a right one that is turned, for a few rows, or where those of both factors are whole
// pages apart.
template <class T>
bool suits_open_tiles(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                      int64_t lda) {
  constexpr int64_t kLeast = 4, kTurnedRows = 12, kPagedRows = 32, kManyRows = 96;
  constexpr int64_t kCached = 640 << 10, kPageBytes = 4096, kLanes = 16;
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  if (std::min({m, n, k}) < kLeast || (transpose_b && m < kTurnedRows)) return false;
  if (m > kManyRows && n * unpacked_gemm::slice_depth(k) > kCached / kItem) return false;
  if (const int64_t lanes = (n + kLanes - 1) / kLanes * kLanes;
      kItem == 4 && 10 * n < 7 * lanes && blas::has_wide_loops())
    return false;
  return transpose_a || !transpose_b || m <= kPagedRows || lda * kItem % kPageBytes != 0;
}

// The whole product decides.
template <class T>
bool is_open(const Products<T>& p) {
  return unpacked_gemm::gains() && p.alpha != 0 &&
         suits_open_tiles<T>(p.transpose_a, p.transpose_b, p.m, p.n, p.k, p.lda);
}

// Whether the product is of a few rows or columns. The whole product decides.
template <class T>
[[gnu::noinline]] bool is_thin(const Products<T>& p) {
  return p.alpha == 1 && p.beta == 0 && suits_thin<T>(p.transpose_a, p.transpose_b, p.m, p.n, p.k);
}

// A block of one of those. Whether it was made.
template <class T>
[[gnu::noinline]] bool multiply_open(const Products<T>& p, int64_t rows, int64_t columns,
                                     const T* a, const T* b, T* c) {
  if (!is_open(p)) return false;
  unpacked_gemm::multiply<T>(
      rows, columns, p.k, {a, p.transpose_a ? 1 : p.lda, p.transpose_a ? p.lda : 1},
      {b, p.transpose_b ? 1 : p.ldb, p.transpose_b ? p.ldb : 1}, c, p.ldc, p.alpha, p.beta);
  return true;
}

// A block of one of those that are packed in one slice. Whether it was made.
template <class T>
[[gnu::noinline]] bool multiply_packed(const Products<T>& p, int64_t rows, int64_t columns,
                                       const T* a, const T* b, T* c) {
  if (!is_packed(p) || !is_one_slice(p)) return false;
  const auto count = static_cast<std::size_t>(packed_gemm::packed_size<T>(p.k, columns));
  const ScopedBlock memory(count * sizeof(T), "workspace");
  T* const packed = memory.as<T>();
  const int64_t row = p.transpose_b ? 1 : p.ldb, column = p.transpose_b ? p.ldb : 1;
  packed_gemm::pack<T>({b, row, column}, p.k, columns, 0, columns, packed);
  packed_gemm::multiply<T>(rows, columns, p.k, {a, p.lda, 1}, packed, c, p.ldc, p.beta != 0, 0,
                           columns);
  return true;
}

// A block of a product of long rows with a vector, or of a vector with columns that lie as rows do,
// if the matrix comes from beyond the second-level cache. Whether it was made.
[[gnu::noinline]] bool made_by_vector(const Products<float>& p, int64_t count, const float* a,
                                      const float* b, float* c) {
  constexpr int64_t kFar = int64_t{1} << 18, kStep = 32, kLeastRows = 4;
  const bool left = p.n == 1;  // whether the matrix is
  const bool as_rows = left ? !p.transpose_a && (p.transpose_b || p.ldb == 1) && p.ldc == 1
                            : p.transpose_b && (!p.transpose_a || p.lda == 1);
  if (!as_rows || p.alpha != 1 || p.beta != 0 || p.k % kStep != 0 || p.m * p.n * p.k < kFar ||
      p.m * p.n < kLeastRows || !gains_by_vector())
    return false;
  multiply_by_vector(count, p.k, left ? a : b, left ? p.lda : p.ldb, left ? b : a, c);
  return true;
}

// The same where others are made of factors where they lie: of those that are left the ones for
// which OpenBLAS turns the right factor, or that are large both ways.
template <class T>
bool is_in_slices_beside_open(const Products<T>& p) {
  constexpr int64_t kTurnedSide = 32, kSide = 192;
  const int64_t side = std::min(p.m, p.n);
  return p.alpha == 1 && (p.beta == 0 || p.beta == 1) && multiplications(p) > kUnpacked &&
         side >= (p.transpose_b && !p.transpose_a ? kTurnedSide : kSide) && !is_open(p);
}

// Whether both factors are packed, by all threads together. What that takes is little where there
// are many rows, or where rows of the left factor would have to be packed anyhow. Of floats in one
// slice it gains nothing, of doubles a twelfth; of few floats, whose last panel is empty for the
// most part, it loses.
template <class T>
bool is_in_slices(const Products<T>& p) {
  constexpr int64_t kManyRows = 96, kFloats = 32, kFewFloats = 50;
  if (unpacked_gemm::gains()) return is_in_slices_beside_open(p);
  if (sizeof(T) == sizeof(float) && p.n < kFewFloats && p.n % kFloats != 0) return false;
  const bool gains = sizeof(T) > sizeof(float) || !is_one_slice(p);
  return is_packed(p) && (p.transpose_a || (gains && p.m >= kManyRows && multiplications(p) > 4e6));
}

// Product i, in all threads.
template <class T>
[[gnu::noinline]] void multiply_in_slices(const Products<T>& p, int64_t i) {
  packed_gemm::multiply_in_slices<T>(
      p.m, p.n, p.k, {p.a_of(i), p.transpose_a ? 1 : p.lda, p.transpose_a ? p.lda : 1},
      {p.b_of(i), p.transpose_b ? 1 : p.ldb, p.transpose_b ? p.ldb : 1}, p.c_of(i), p.ldc,
      p.beta != 0);
}

// Whether a column meets a row, which is as long as a vector: BLAS is made for more depth.
bool is_outer(int64_t n, int64_t k, bool in_row) { return k == 1 && in_row && n >= kOuterRow; }

// A block of an outer product. Whether it was made.
template <class T>
bool made_of_rows(const Products<T>& p, int64_t rows, int64_t columns, const T* a, const T* b,
                  T* c) {
  if (!is_outer(columns, p.k, !p.transpose_b || p.ldb == 1) || p.alpha != 1 || p.beta != 0)
    return false;
  const auto loop = outer_product_loop<T>();
  if (loop != nullptr) loop(rows, columns, a, p.transpose_a ? 1 : p.lda, b, c, p.ldc);
  return loop != nullptr;
}

// Whether vectors of a row of the result are faster than BLAS: not where a right factor of some
// depth is turned first, and is met once, or columns of the left one are met.
bool suits_rows(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kFew = kSmallSide / 2, kDeep = 12;
  const int64_t most = std::max({m, n, k});
  const bool turned = transpose_b && n > 1 && k >= kDeep;
  constexpr int64_t kFlat = 4;
  if (m <= kFlat && n > 1 && !transpose_b && n <= kFlatSide && k <= kFlatSide) return true;
  // Any number of rows, where those of the result are long.
  if (!transpose_a && m > kSmallSide) return n > kFew && n <= kSmallSide && k <= kSmallSide;
  return most <= kFew || (most <= kSmallSide && !(turned && (m == 1 || transpose_a)));
}

// Whether they are for these. BLAS knows that zero times a product is zero, whatever is in it.
template <class T>
bool is_by_rows(const Products<T>& p) {
  return suits_rows(p.transpose_a, p.transpose_b, p.m, p.n, p.k) && p.k > 0 && p.alpha != 0 &&
         p.beta == 0 && small_product_loop<T>() != nullptr;
}

// Products [first, last) of those.
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

// Many sums of two rows each, whose numbers lie together. Whether they were made.
template <class T>
[[gnu::noinline]] bool made_of_row_dots(const Products<T>& p) {
  if (p.m != 1 || p.n != 1 || p.count() == 1 || p.k < 1 || p.k > kLongestDot) return false;
  if ((p.transpose_a && p.lda != 1) || (!p.transpose_b && p.ldb != 1)) return false;
  const auto loop = row_dots_loop<T>();
  if (loop == nullptr || p.alpha == 0 || p.beta != 0) return false;
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
  return true;
}

// Many products of a vector and a few rows, whose numbers lie together. Whether they were made.
template <class T>
[[gnu::noinline]] bool made_of_vector_dots(const Products<T>& p) {
  constexpr int64_t kLeastDepth = 8, kMost = 32;
  const bool left = p.n == 1;  // whether the rows are
  const int64_t rows = left ? p.m : p.n;
  if ((p.m == 1) == left || p.count() == 1 || rows > kMost || p.k < kLeastDepth || p.k > kMost ||
      p.alpha == 0 || p.beta != 0)
    return false;
  if ((p.transpose_a && (left || p.lda != 1)) || (!p.transpose_b && (!left || p.ldb != 1)))
    return false;
  const auto loop = row_dots_loop<T>();
  if (loop == nullptr) return false;
  const double cost = cost_of_moving(static_cast<double>((rows + 1) * p.k) * sizeof(T));
  parallel_for(p.count(), cost, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      loop({p.k, p.a_of(i), left ? p.lda : 0, p.b_of(i), left ? 0 : p.ldb, p.c_of(i),
            left ? p.ldc : 1, p.alpha},
           0, rows);
  });
  return true;
}

// The block of `rows` x `columns` of product i that begins at (row, column).
template <class T>
void block(const Products<T>& p, int64_t i, int64_t row, int64_t rows, int64_t column,
           int64_t columns) {
  const T* a = p.a_of(i) + (p.transpose_a ? row : row * p.lda);
  const T* b = p.b_of(i) + (p.transpose_b ? column * p.ldb : column);
  T* c = p.c_of(i) + row * p.ldc + column;
  if constexpr (std::is_integral_v<T>) {
    integer_block(p, rows, columns, a, b, c);
  } else if (is_thin(p)) {
    // The longer side is the one that is split.
    multiply_thin(p.n <= p.m, p.transpose_a, p.transpose_b, rows, columns, p.k, a, p.lda, b, p.ldb,
                  c, p.ldc);
  } else if (!made_of_rows(p, rows, columns, a, b, c) &&
             !multiply_open(p, rows, columns, a, b, c) &&
             !multiply_packed(p, rows, columns, a, b, c)) {
    if constexpr (std::is_same_v<T, float>) {
      const bool by_vector = (p.m == 1) != (p.n == 1);
      if (by_vector && made_by_vector(p, rows * columns, a, b, c)) return;
    }
    blas::gemm(p.transpose_a, p.transpose_b, rows, columns, p.k, p.alpha, a, p.lda, b, p.ldb,
               p.beta, c, p.ldc);
  }
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

template <class T>
void multiply_stretches(const Products<T>& p, int64_t stretch) {
  using Sum = std::conditional_t<std::is_integral_v<T>, T, double>;
  const int64_t stretches = (p.k + stretch - 1) / stretch, size = p.m * p.n;
  const int64_t step_a = p.transpose_a ? p.lda : 1, step_b = p.transpose_b ? 1 : p.ldb;
  std::vector<T> sums(static_cast<std::size_t>(stretches * size));
  // Each number is met a few times, and waited for.
  const double cost =
      std::max(kMultiplyCost * static_cast<double>(stretch * size),
               cost_of_moving(static_cast<double>((p.m + p.n) * stretch) * sizeof(T)));
  parallel_for(
      stretches, cost,
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t at = i * stretch, zero = 0;
          const int64_t at_a = p.at_a[0] + at * step_a, at_b = p.at_b[0] + at * step_b;
          Products<T> part = p;
          part.k = std::min(stretch, p.k - at);
          part.beta = T(0);
          part.c = &sums[static_cast<std::size_t>(i * size)];
          part.ldc = p.n;
          part.at_a = {&at_a, 1};
          part.at_b = {&at_b, 1};
          part.at_c = {&zero, 1};
          block(part, 0, 0, p.m, 0, p.n);
        }
      },
      1);
  for (int64_t j = 0; j < size; ++j) {
    T& c = p.c[p.at_c[0] + j / p.n * p.ldc + j % p.n];
    Sum total{0};
    for (int64_t i = 0; i < stretches; ++i) total += sums[static_cast<std::size_t>(i * size + j)];
    c = static_cast<T>(p.beta == 0 ? total
                                   : total + static_cast<Sum>(p.beta) * static_cast<Sum>(c));
  }
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

template <class T>
void multiply_all(const Products<T>& p) {
  if constexpr (std::is_floating_point_v<T>) {
    if (is_left_vector(p)) return multiply_all(with_left_vector(p));
  }
  const int64_t batch = p.count();
  if (const int64_t stretch = stretch_of(p)) return multiply_stretches(p, stretch);
  double cost = kMultiplyCost * static_cast<double>(p.m) * static_cast<double>(p.n) *
                static_cast<double>(std::max<int64_t>(p.k, 1));
  // A few rows meet each number of a matrix a few times, and wait for it.
  bool thin = false;
  if constexpr (std::is_floating_point_v<T>) thin = is_thin(p);
  if (thin || (p.m == 1) != (p.n == 1)) {
    const int64_t bytes = std::max(p.m, p.n) * p.k * static_cast<int64_t>(sizeof(T));
    cost = std::max(cost, cost_of_moving(static_cast<double>(bytes)));
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (made_of_row_dots(p) || made_of_vector_dots(p)) return;
    if (is_by_rows(p)) {
      const int64_t bytes = (p.m * p.k + p.k * p.n + p.m * p.n) * static_cast<int64_t>(sizeof(T));
      if (batch == 1 && p.m > kSmallSide) {
        const double whole = std::max(cost, cost_of_moving(static_cast<double>(bytes)));
        return parallel_for(p.m, whole / static_cast<double>(p.m),
                            [&](int64_t first, int64_t last) {
                              Products<T> part = p;
                              part.a += first * p.lda;
                              part.c += first * p.ldc;
                              part.m = last - first;
                              multiply_by_rows(part, 0, 1);
                            });
      }
      return parallel_for(batch, std::max(cost, cost_of_moving(static_cast<double>(bytes))),
                          [&](int64_t first, int64_t last) { multiply_by_rows(p, first, last); });
    }
  }
  bool in_slices = false;
  if constexpr (std::is_floating_point_v<T>) in_slices = !thin && is_in_slices(p);
  const auto whole = [&](int64_t i) {
    if constexpr (std::is_floating_point_v<T>) {
      if (in_slices) return multiply_in_slices(p, i);
    }
    block(p, i, 0, p.m, 0, p.n);
  };
  if (batch >= threads_for(batch, cost) && batch > 1) {
    parallel_for(
        batch, cost,
        [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) whole(i);
        },
        1);
    return;
  }
  for (int64_t i = 0; i < batch; ++i) {
    if (in_slices) {
      whole(i);
    } else if (p.m >= p.n) {
      parallel_for(p.m, cost / static_cast<double>(p.m),
                   [&](int64_t first, int64_t last) { block(p, i, first, last - first, 0, p.n); });
    } else {
      parallel_for(p.n, cost / static_cast<double>(p.n),
                   [&](int64_t first, int64_t last) { block(p, i, 0, p.m, first, last - first); });
    }
  }
}

}  // namespace

template <std::floating_point T>
void multiply_here(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, T alpha,
                   const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (!unpacked_gemm::gains() || alpha == 0 ||
      !suits_open_tiles<T>(transpose_a, transpose_b, m, n, k, lda))
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
  if (n > 1 && suits_rows(transpose_a, transpose_b, m, n, k)) {
    if (const auto loop = small_product_loop<T>()) {
      return loop({m, n, k, a, row_a, column_a, 0, b, transpose_b ? 1 : ldb, transpose_b ? ldb : 1,
                   0, c, n, m * n, T{1}},
                  1, 0, 1);
    }
  }
  if (is_outer(n, k, true)) {
    if (const auto loop = outer_product_loop<T>()) return loop(m, n, a, row_a, b, c, n);
  }
  if (suits_thin<T>(transpose_a, transpose_b, m, n, k))
    return multiply_thin(n <= m, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c, n);
  multiply_here(transpose_a, transpose_b, m, n, k, T{1}, a, lda, b, ldb, T{0}, c, n);
}
template void multiply_few(bool, bool, int64_t, int64_t, int64_t, const float*, const float*,
                           float*);
template void multiply_few(bool, bool, int64_t, int64_t, int64_t, const double*, const double*,
                           double*);

void multiply(const Products<float>& products) { multiply_all(products); }
void multiply(const Products<double>& products) { multiply_all(products); }
void multiply(const Products<uint32_t>& products) { multiply_all(products); }
void multiply(const Products<uint64_t>& products) { multiply_all(products); }

}  // namespace mxnet
