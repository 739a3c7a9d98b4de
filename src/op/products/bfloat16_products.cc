// SPDX-License-Identifier: Apache-2.0
// Lays factors out as pairs, where they are not so already. Tiles of sums are rounded as they leave
// the registers; only sums of a great depth, which are made in parts, lie between as floats.
#include "op/products/bfloat16_products.h"

#include <algorithm>

#include "op/moving/strided_kernels.h"
#include "op/products/packed_bfloat16.h"
#include "op/products/pair_sums.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr int64_t kTileRows = 12;         // whose sums of two vectors leave room for what they meet
constexpr int64_t kRows = 6 * kTileRows;  // that meet a panel one after the other
constexpr int64_t kPanel = 2 * PairSums::kCount;
constexpr auto kBytes = static_cast<int64_t>(sizeof(bfloat16));
// Of a panel that is summed at once; packed_bfloat16 adds up parts of so many.
constexpr int64_t kMostPairs = 1024;

// Columns [first, last) of b (k x n), as packed_gemm::pack() lays out so many pairs.
void pack_rows(const bfloat16* b, int64_t k, int64_t n, int64_t first, int64_t last,
               float* packed) {
  const int64_t pairs = (k + 1) / 2;
  for (int64_t p = first; p < last; p += kPanel) {
    const int64_t columns = std::min(kPanel, n - p);
    const int64_t width = (columns + PairSums::kCount - 1) / PairSums::kCount * PairSums::kCount;
    auto* to = reinterpret_cast<Bfloat16Pair*>(packed + p * pairs);
    for (int64_t i = 0; i < k; i += 2, to += width) {
      const bfloat16* low = b + i * n + p;
      pair_up(&low->bits, i + 1 < k ? &low[n].bits : nullptr, columns, to);
    }
  }
}

// Rows [first, last) with a zero behind an odd k; of a matrix that is `turned`, its columns.
void lay_out_rows(const bfloat16* from, bool turned, int64_t rows, int64_t k, int64_t first,
                  int64_t last, bfloat16* to) {
  const int64_t depth = k + k % 2;
  bfloat16* const begin = to + first * depth;
  if (turned) {
    tile_kernel(kBytes)(reinterpret_cast<const char*>(from + first), reinterpret_cast<char*>(begin),
                        {last - first, kBytes, depth * kBytes}, {k, rows * kBytes, kBytes}, kBytes,
                        false);
  } else {
    for (int64_t r = first; r < last; ++r) std::copy_n(from + r * k, k, to + r * depth);
  }
  if (depth != k)
    for (int64_t r = first; r < last; ++r) to[r * depth + k].bits = 0;
}

// Rows of all matrices, with an even number of elements each.
const bfloat16* rows_of_pairs(const bfloat16* from, bool turned, int64_t rows, int64_t k,
                              int64_t count, KernelContext& context) {
  if (!turned && k % 2 == 0) return from;
  const int64_t depth = k + k % 2;
  auto* const to = context.workspace_of<bfloat16>(count * rows * depth);
  const int64_t blocks = (rows + kRows - 1) / kRows;
  parallel_for(
      count * blocks, static_cast<double>(kRows * k) / 8,
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t matrix = i / blocks, top = i % blocks * kRows;
          lay_out_rows(from + matrix * rows * k, turned, rows, k, top, std::min(rows, top + kRows),
                       to + matrix * rows * depth);
        }
      },
      1);
  return to;
}

// c[rows][columns] = a[rows][pairs] b[pairs][vectors], rounded, with `row` elements between rows of
// a; the columns that c lacks are anything in b. Sums are added up as those of packed_bfloat16.
template <int rows, int vectors>
MX_BFLOAT16_PAIRS void tile(int64_t pairs, const bfloat16* a, int64_t row, const float* b,
                            bfloat16* c, int64_t ldc, int64_t columns) {
  PairSums sum[rows][vectors];
  sum_pairs<false>(pairs, a, row, 2, b, nullptr, sum);
#pragma GCC unroll 12
  for (int r = 0; r < rows; ++r, c += ldc) round_sums(sum[r], columns, &c->bits);
}

// Rows of c (`columns` of a panel, `ldc` apart): what tiles of twelve leave is made in those of
// four or one, of which the last may repeat rows of the one before.
template <int vectors>
void multiply_panel(int64_t rows, int64_t columns, int64_t pairs, const bfloat16* a, const float* b,
                    bfloat16* c, int64_t ldc) {
  constexpr int kFew = 4;
  const int64_t row = 2 * pairs;
  for (int64_t r = 0; r < rows;) {
    const int64_t left = rows - r;
    if (left >= kTileRows || (left > 2 * kFew && rows >= kTileRows)) {
      r = std::min(r, rows - kTileRows);
      tile<kTileRows, vectors>(pairs, a + r * row, row, b, c + r * ldc, ldc, columns);
      r += kTileRows;
    } else if (rows >= kFew) {
      r = std::min(r, rows - kFew);
      tile<kFew, vectors>(pairs, a + r * row, row, b, c + r * ldc, ldc, columns);
      r += kFew;
    } else {
      tile<1, vectors>(pairs, a + r * row, row, b, c + r * ldc, ldc, columns);
      ++r;
    }
  }
}

// Up to kRows rows of a product of a great depth.
void multiply_deep(int64_t rows, int64_t n, int64_t pairs, const bfloat16* a, const float* packed,
                   bfloat16* c) {
  alignas(64) float sums[kRows * kPanel];
  for (int64_t at = 0; at < n; at += kPanel) {
    const int64_t columns = std::min(kPanel, n - at);
    packed_bfloat16::multiply(rows, columns, 2 * pairs, a, 2 * pairs, packed + at * pairs, sums,
                              kPanel, false, 0, columns);
    for (int64_t r = 0; r < rows; ++r) round_sums(sums + r * kPanel, columns, &c[r * n + at].bits);
  }
}

// As many rows.
void multiply_rows(int64_t rows, int64_t n, int64_t pairs, const bfloat16* a, const float* packed,
                   bfloat16* c) {
  if (pairs > kMostPairs) return multiply_deep(rows, n, pairs, a, packed, c);
  for (int64_t at = 0; at < n; at += kPanel) {
    const int64_t columns = std::min(kPanel, n - at);
    const auto multiply = columns > PairSums::kCount ? multiply_panel<2> : multiply_panel<1>;
    multiply(rows, columns, pairs, a, packed + at * pairs, c + at, n);
  }
}

}  // namespace

bool multiplies_bfloat16(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kLeastRows = 4;
  return m >= kLeastRows && n >= PairSums::kCount && k >= 2 && packed_bfloat16::available();
}

void multiply(const Bfloat16Products& p, KernelContext& context) {
  const int64_t m = p.m, n = p.n, k = p.k, pairs = (k + 1) / 2, depth = 2 * pairs;
  const bfloat16* const left = rows_of_pairs(p.a, p.transpose_a, m, k, p.count, context);
  const bfloat16* const right =
      p.transpose_b ? rows_of_pairs(p.b, false, n, k, p.count, context) : p.b;
  const int64_t size = packed_gemm::packed_size<float>(pairs, n);
  auto* const packed = context.workspace_of<float>(p.count * size);
  const int64_t panels = (n + kPanel - 1) / kPanel;
  parallel_for(
      p.count * panels, static_cast<double>(kPanel * k) / 8,
      [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t matrix = i / panels, from = i % panels * kPanel,
                        to = std::min(n, from + kPanel);
          float* const place = packed + matrix * size;
          if (p.transpose_b) {
            packed_gemm::pack<float>(packed_bfloat16::pairs(right + matrix * n * depth, depth),
                                     pairs, n, from, to, place);
          } else {
            pack_rows(right + matrix * k * n, k, n, from, to, place);
          }
        }
      },
      1);
  const int64_t tiles = (m + kTileRows - 1) / kTileRows;
  // A thirty-second of a product and addition is about the unit of the cost model.
  parallel_for(
      p.count * tiles, static_cast<double>(kTileRows * n * (k + 8)) / 32,
      [&](int64_t first, int64_t last) {
        while (first < last) {
          const int64_t matrix = first / tiles, top = first % tiles * kTileRows;
          const int64_t taken = std::min({last - first, tiles - first % tiles, kRows / kTileRows});
          const int64_t rows = std::min(taken * kTileRows, m - top);
          multiply_rows(rows, n, pairs, left + (matrix * m + top) * depth, packed + matrix * size,
                        p.c + (matrix * m + top) * n);
          first += taken;
        }
      },
      1);
}

}  // namespace mxnet
