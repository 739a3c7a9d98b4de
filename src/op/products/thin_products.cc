// SPDX-License-Identifier: Apache-2.0
// Compiles the loops for each instruction set, and cuts what they meet into what the caches hold.
#include "op/products/thin_products.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "op/moving/strided_kernels.h"
#include "storage/scoped_block.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

// c(r, w) = sum over l of few(r, l) matrix(l, w), for `few` rows r, `wide` w and depth k.
// few(r, l) is at few_at[r * row + l * column], one of which is 1 unless there is one row, c(r, w)
// at c[r * c_row + w * c_column]. Lines of the matrix are `line` numbers apart, those of each lie
// together.
template <class T>
struct ThinProduct {
  int64_t few, wide, k;
  const T* few_at;
  int64_t row, column;
  const T* matrix;
  int64_t line;
  T* c;
  int64_t c_row, c_column;
};

// Rows, or columns, at most, and of those that one pass of the loops meets; the sums of four rows
// of lines are more than AVX2 has registers for.
constexpr int64_t kMost = 16, kAtOnce = 4, kAtOnceByAvx2 = 2;

#define MX_SIMD_FILE "op/products/thin_products.inc"
#include "base/simd_wide_targets.h"

// Of `wide` lines of k numbers.
template <class T>
void multiply_rows(const ThinProduct<T>& p) {
  constexpr int64_t kBytes = sizeof(T), kOnStack = 1024, kCached = (int64_t{256} << 10) / kBytes;
  ThinProduct<T> part = p;
  T few[kOnStack];
  std::optional<ScopedBlock> memory;
  if (p.column != 1) {  // rows that are turned
    T* to = few;
    if (p.few * p.k > kOnStack) {
      memory.emplace(static_cast<std::size_t>(p.few * p.k * kBytes), "workspace");
      to = memory->as<T>();
    }
    tile_kernel(kBytes)(reinterpret_cast<const char*>(p.few_at), reinterpret_cast<char*>(to),
                        {p.few, kBytes, p.k * kBytes}, {p.k, p.column * kBytes, kBytes}, kBytes,
                        false);
    part.few_at = to;
    part.row = p.k;
  }
  // Lines that stay in the second-level cache while they meet all rows.
  const int64_t at_once = p.few <= kAtOnce ? p.wide : std::max(kCached / p.k / 4, int64_t{1}) * 4;
  void (*const loop)(const ThinProduct<T>&) = MX_SIMD_WIDE_AT(simd_level(), dots_of_lines<T>);
  const int64_t rows_at_once = simd_level() == 2 ? kAtOnce : kAtOnceByAvx2;
  for (int64_t first = 0; first < p.wide; first += at_once) {
    part.wide = std::min(p.wide - first, at_once);
    part.matrix = p.matrix + first * p.line;
    ThinProduct<T> some = part;
    for (int64_t r = 0; r < p.few; r += rows_at_once) {
      some.few = std::min(p.few - r, rows_at_once);
      some.few_at = part.few_at + r * part.row;
      some.c = p.c + r * p.c_row + first * p.c_column;
      loop(some);
    }
  }
}

// Of k lines of `wide` numbers.
template <class T>
void multiply_columns(const ThinProduct<T>& p) {
  // Columns of a result that stays in the first-level cache while lines are met, and so many lines
  // that no more pages are met in turns than the processor keeps the addresses of.
  constexpr int64_t kTurned = 256, kColumns = 1024, kDepth = 64;
  T turned[kMost * kTurned];
  void (*const loop)(const ThinProduct<T>&, bool) = MX_SIMD_WIDE_AT(simd_level(), add_lines<T>);
  const bool turns = p.c_column != 1;
  const int64_t at_once = turns ? kTurned : kColumns;
  for (int64_t first = 0; first < p.wide; first += at_once) {
    ThinProduct<T> part = p;
    part.wide = std::min(p.wide - first, at_once);
    T* const c = p.c + first * p.c_column;
    if (turns) part.c_row = kTurned;
    for (int64_t l = 0; l < p.k; l += kDepth) {
      part.k = std::min(p.k - l, kDepth);
      part.matrix = p.matrix + l * p.line + first;
      for (int64_t r = 0; r < p.few; r += kAtOnce) {
        part.few = std::min(p.few - r, kAtOnce);
        part.few_at = p.few_at + r * p.row + l * p.column;
        part.c = (turns ? turned : c) + r * part.c_row;
        loop(part, l > 0);
      }
    }
    if (!turns) continue;
    constexpr int64_t kBytes = sizeof(T);
    tile_kernel(kBytes)(reinterpret_cast<const char*>(turned), reinterpret_cast<char*>(c),
                        {part.wide, kBytes, p.c_column * kBytes}, {p.few, kTurned * kBytes, kBytes},
                        kBytes, false);
  }
}

}  // namespace

// Sums along lines of the matrix end with sums of lanes, those across lines for some columns with
// columns that are turned: little depth does not pay for them.
template <class T>
bool suits_thin(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kLeastWide = 16, kLeastDepth = 128 / static_cast<int64_t>(sizeof(T));
  const int64_t few = std::min(m, n), wide = std::max(m, n);
  if (few < 2 || few > kMost || simd_level() == 0) return false;
  if (n <= m && transpose_a) return wide > kLeastWide && k > 1 && (k >= 2 * few || few < 4);
  if (n > m && !transpose_b) return wide > kLeastWide && k > (few > kMost / 2 ? 7 : 1);
  return k >= (few > kMost / 2 ? 4 * kLeastDepth : kLeastDepth);
}

template <class T>
void multiply_thin(bool left, bool transpose_a, bool transpose_b, int64_t rows, int64_t columns,
                   int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc) {
  const int64_t row_a = transpose_a ? 1 : lda, column_a = transpose_a ? lda : 1;
  const int64_t row_b = transpose_b ? 1 : ldb, column_b = transpose_b ? ldb : 1;
  const ThinProduct<T> p =
      left ? ThinProduct<T>{columns, rows, k, b, column_b, row_b, a, lda, c, 1, ldc}
           : ThinProduct<T>{rows, columns, k, a, row_a, column_a, b, ldb, c, ldc, 1};
  (left ? !transpose_a : transpose_b) ? multiply_rows(p) : multiply_columns(p);
}

#define MX_DEFINE(T)                                                                          \
  template bool suits_thin<T>(bool, bool, int64_t, int64_t, int64_t);                         \
  template void multiply_thin(bool, bool, bool, int64_t, int64_t, int64_t, const T*, int64_t, \
                              const T*, int64_t, T*, int64_t);
MX_DEFINE(float)
MX_DEFINE(double)
#undef MX_DEFINE

}  // namespace mxnet
