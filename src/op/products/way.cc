// SPDX-License-Identifier: Apache-2.0
// The questions, whose answers were measured: docs/kernels.md, "Products" and "Small matrices".
#include "op/products/way.h"

#include <algorithm>

#include "base/processor_facts.h"
#include "base/simd.h"
#include "op/products/blas.h"
#include "op/products/matrix_vector.h"
#include "op/products/packed_gemm.h"
#include "op/products/row_dots.h"
#include "op/products/small_products.h"
#include "op/products/thin_products.h"
#include "op/products/unpacked_gemm.h"

namespace mxnet {

// Whether vectors of a row of the result are faster than BLAS: not where a right factor of some
// depth is turned first, and is met once, or columns of the left one are met, by long vectors in
// much depth only.
template <std::floating_point T>
bool suits_rows(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kFew = kSmallSide / 2, kDeep = 12, kFlat = 4, kMostOfColumns = 24;
  const int64_t most = std::max({m, n, k});
  const bool turned = transpose_b && n > 1 && k >= kDeep, wide = simd_level() == 2;
  if (m <= kFlat && n > 1 && !transpose_b && n <= kFlatSide && k <= kFlatSide) return true;
  if (wide && std::min(m, k) >= kFew && n > kSmallSide) {
    // Of doubles BLAS and open tiles are as fast, but for what they turn.
    if (transpose_a || !transpose_b)
      return sizeof(T) == sizeof(float) && most <= (transpose_a ? kMostOfColumns : kFlatSide);
    return most <= kFlatSide;
  }
  // Any number of rows, where those of the result are long.
  if (!transpose_a && m > kSmallSide) return n > kFew && n <= kSmallSide && k <= kSmallSide;
  const bool columns_met = transpose_a && !(wide && most < kSmallSide);
  return most <= kFew || (most <= kSmallSide && !(turned && (m == 1 || columns_met)));
}

namespace {

// How many multiplications OpenBLAS makes without packing.
constexpr double kUnpacked = 1e6;

double multiplications(int64_t m, int64_t n, int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

// Whether OpenBLAS does, with vectors of 512 bits.
bool is_lean_in_blas(int64_t m, int64_t n, int64_t k) {
  return blas::has_wide_loops() && multiplications(m, n, k) <= kUnpacked;
}

}  // namespace

// Small results of some depth.
bool is_lean_when_turned(bool transpose_a, int64_t m, int64_t n, int64_t k) {
  const int64_t few_results = transpose_a ? 2500 : 1024;
  return m * n <= few_results && is_lean_in_blas(m, n, k);
}

// BLAS is made for more depth.
bool suits_outer(int64_t n, int64_t k, bool in_row) { return k == 1 && in_row && n >= kOuterRow; }

// On processors where tiles for factors where they lie gain: not where a slice of the right factor
// leaves the second-level cache before many rows have met it, nor, of a right one that is turned,
// for a few rows or a few of each factor, or where those of both factors are whole pages apart, nor
// where much of the last vectors is empty and OpenBLAS's are as long.
template <std::floating_point T>
bool suits_open_tiles(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                      int64_t lda) {
  constexpr int64_t kLeast = 4, kTurnedRows = 12, kPagedRows = 32, kManyRows = 96;
  constexpr int64_t kCached = 640 << 10, kPageBytes = 4096;
  constexpr auto kItem = static_cast<int64_t>(sizeof(T)), kLanes = 64 / kItem;
  if (!unpacked_gemm::gains()) return false;
  if (std::min({m, n, k}) < kLeast || (transpose_b && m < kTurnedRows)) return false;
  if (m > kManyRows && n * unpacked_gemm::slice_depth(k) > kCached / kItem) return false;
  if (const int64_t lanes = (n + kLanes - 1) / kLanes * kLanes;
      10 * n < 7 * lanes && is_lean_in_blas(m, n, k))
    return false;
  if (transpose_b && is_lean_when_turned(transpose_a, m, n, k)) return false;
  return transpose_a || !transpose_b || m <= kPagedRows || lda * kItem % kPageBytes != 0;
}

// A few rows or columns: not where tiles meet the lines of a right factor that the second-level
// cache holds, or of one of little depth that the third does, nor where OpenBLAS does not pack sums
// along more than a few.
template <std::floating_point T>
bool suits_few(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, int64_t lda) {
  constexpr int64_t kRowsOfTile = 4, kColumns = 5, kTurned = 9, kLittleDepth = 384;
  constexpr int64_t kNear = (int64_t{1} << 20) / static_cast<int64_t>(sizeof(T));
  if (!suits_thin<T>(transpose_a, transpose_b, m, n, k)) return false;
  if (transpose_b && !transpose_a)
    return std::min(m, n) < kTurned || !is_lean_when_turned(false, m, n, k);
  if (n <= m) return n < kColumns || !is_lean_in_blas(m, n, k);
  return transpose_b || m < kRowsOfTile || n * k > (k > kLittleDepth ? kNear : 4 * kNear) ||
         !suits_open_tiles<T>(transpose_a, transpose_b, m, n, k, lda);
}

namespace {

template <class T>
double multiplications(const Products<T>& p) {
  return multiplications(p.m, p.n, p.k);
}

template <class T>
bool is_plain(const Products<T>& p) {
  return p.alpha == 1 && (p.beta == 0 || p.beta == 1);
}

// Whether products are made of panels that are packed here, which is better than OpenBLAS where
// tiles are tall (Cascade Lake). Smaller products OpenBLAS does not pack either, and is faster; so
// it is for a vector, and where much of each vector of a panel is empty and there is little depth.
template <class T>
bool is_packed(const Products<T>& p) {
  constexpr int64_t kFewRows = 32;
  // Vectors of doubles are half as many; 1 means none but a vector.
  constexpr int64_t kFewColumns = sizeof(T) == sizeof(float) ? 12 : 1, kLittleDepth = 128;
  if (p.n == 1 || p.k == 1 || (p.n <= kFewColumns && p.k < kLittleDepth)) return false;
  return packed_gemm::has_tall_tiles() && is_plain(p) && p.m >= kFewRows &&
         multiplications(p) > 1e6;
}

// Whether the left factor can stay where it is and the right one stays in the second-level cache,
// in one slice of its depth.
template <class T>
bool is_one_slice(const Products<T>& p) {
  constexpr int64_t kDepthBytes = 2048, kPackedBytes = int64_t{1} << 20;
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  return !p.transpose_a && p.k * kItem <= kDepthBytes && p.n * p.k <= kPackedBytes / kItem;
}

// On processors where open tiles wait for a large right factor: it is packed, and met by panels.
template <class T>
bool prefers_panels(const Products<T>& p) {
  constexpr int64_t kFewRows = 16, kManyRows = 400;
  constexpr int64_t kLarge = (int64_t{640} << 10) / static_cast<int64_t>(sizeof(T));
  return processor_facts().gains_by_packed_panels && is_plain(p) && !p.transpose_b &&
         p.m > kFewRows &&
         p.n * unpacked_gemm::slice_depth(p.k) > (p.m < kManyRows ? kLarge : kLarge / 2);
}

// Whether it is for open tiles.
template <class T>
bool is_open(const Products<T>& p) {
  return p.alpha != 0 && !prefers_panels(p) &&
         suits_open_tiles<T>(p.transpose_a, p.transpose_b, p.m, p.n, p.k, p.lda);
}

// The same where others are made of factors where they lie: of those that are left the ones for
// which OpenBLAS turns the right factor, or that are large both ways.
template <class T>
bool is_in_slices_beside_open(const Products<T>& p) {
  constexpr int64_t kTurnedSide = 32, kSide = 192;
  const int64_t side = std::min(p.m, p.n);
  if (!is_plain(p) || multiplications(p) <= kUnpacked || is_open(p)) return false;
  return prefers_panels(p) || side >= (p.transpose_b && !p.transpose_a ? kTurnedSide : kSide);
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

// Sums of two rows, whose numbers lie together.
template <class T>
bool is_of_row_dots(const Products<T>& p) {
  if (p.m != 1 || p.n != 1 || p.count() == 1 || p.k < 1 || p.k > kLongestDot) return false;
  if ((p.transpose_a && p.lda != 1) || (!p.transpose_b && p.ldb != 1)) return false;
  return p.alpha != 0 && p.beta == 0 && row_dots_loop<T>() != nullptr;
}

// A vector and a few rows, whose numbers lie together.
template <class T>
bool is_of_vector_dots(const Products<T>& p) {
  constexpr int64_t kLeastDepth = 8, kMost = 32;
  const bool left = p.n == 1;  // whether the rows are
  if ((p.m == 1) == left || p.count() == 1 || p.m * p.n > kMost) return false;
  if (p.k < kLeastDepth || p.k > kMost || p.alpha == 0 || p.beta != 0) return false;
  if ((p.transpose_a && (left || p.lda != 1)) || (!p.transpose_b && (!left || p.ldb != 1)))
    return false;
  return row_dots_loop<T>() != nullptr;
}

// BLAS knows that zero times a product is zero, whatever is in it.
template <class T>
bool is_by_rows(const Products<T>& p) {
  return suits_rows<T>(p.transpose_a, p.transpose_b, p.m, p.n, p.k) && p.k > 0 && p.alpha != 0 &&
         p.beta == 0 && small_product_loop<T>() != nullptr;
}

// Long rows with a vector, or a vector with columns that lie as rows do, if the matrix comes from
// beyond the second-level cache.
bool is_by_vector(const Products<double>&) { return false; }
bool is_by_vector(const Products<float>& p) {
  constexpr int64_t kFar = int64_t{1} << 18, kStep = 32, kLeastRows = 4;
  const bool left = p.n == 1;  // whether the matrix is
  if ((p.m == 1) == left || p.m * p.n < kLeastRows || p.m * p.n * p.k < kFar || p.k % kStep != 0)
    return false;
  const bool as_rows = left ? !p.transpose_a && (p.transpose_b || p.ldb == 1) && p.ldc == 1
                            : p.transpose_b && (!p.transpose_a || p.lda == 1);
  return as_rows && p.alpha == 1 && p.beta == 0 && gains_by_vector();
}

template <class T>
bool is_thin(const Products<T>& p) {
  return p.alpha == 1 && p.beta == 0 &&
         suits_few<T>(p.transpose_a, p.transpose_b, p.m, p.n, p.k, p.lda);
}

template <class T>
bool is_outer(const Products<T>& p) {
  return suits_outer(p.n, p.k, !p.transpose_b || p.ldb == 1) && p.alpha == 1 && p.beta == 0 &&
         outer_product_loop<T>() != nullptr;
}

}  // namespace

template <std::floating_point T>
Way way_of_blocks(const Products<T>& p) {
  return is_thin(p)                        ? Way::kThin
         : is_outer(p)                     ? Way::kOuter
         : is_open(p)                      ? Way::kOpen
         : is_packed(p) && is_one_slice(p) ? Way::kOneSlice
         : is_by_vector(p)                 ? Way::kByVector
                                           : Way::kBlas;
}

template <std::floating_point T>
Way way_of(const Products<T>& p) {
  if (is_of_row_dots(p)) return Way::kRowDots;
  if (is_of_vector_dots(p)) return Way::kVectorDots;
  if (is_by_rows(p)) return Way::kByRows;
  const Way way = way_of_blocks(p);
  return way != Way::kThin && is_in_slices(p) ? Way::kInSlices : way;
}

#define MX_INSTANTIATE(T)                                                            \
  template bool suits_rows<T>(bool, bool, int64_t, int64_t, int64_t);                \
  template Way way_of(const Products<T>&);                                           \
  template Way way_of_blocks(const Products<T>&);                                    \
  template bool suits_open_tiles<T>(bool, bool, int64_t, int64_t, int64_t, int64_t); \
  template bool suits_few<T>(bool, bool, int64_t, int64_t, int64_t, int64_t);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet
