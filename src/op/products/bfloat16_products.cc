// SPDX-License-Identifier: Apache-2.0
// Lays factors out as pairs, where they are not so already, and rounds sums a few rows at a time.
#include "op/products/bfloat16_products.h"

#include <algorithm>

#include "base/bfloat16_pairs.h"
#include "op/moving/strided_kernels.h"
#include "op/products/packed_bfloat16.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr int64_t kTileRows = 8;
constexpr int64_t kRows = 9 * kTileRows;  // that meet a panel one after the other
constexpr int64_t kPanel = 2 * PairSums::kCount;
constexpr auto kBytes = static_cast<int64_t>(sizeof(bfloat16));

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
        alignas(64) float sums[kRows * kPanel];
        while (first < last) {
          const int64_t matrix = first / tiles, top = first % tiles * kTileRows;
          const int64_t taken = std::min({last - first, tiles - first % tiles, kRows / kTileRows});
          const int64_t rows = std::min(taken * kTileRows, m - top);
          const bfloat16* const a = left + (matrix * m + top) * depth;
          for (int64_t at = 0; at < n; at += kPanel) {
            const int64_t columns = std::min(kPanel, n - at);
            packed_bfloat16::multiply(rows, columns, depth, a, depth,
                                      packed + matrix * size + at * pairs, sums, kPanel, false, 0,
                                      columns);
            bfloat16* to = p.c + (matrix * m + top) * n + at;
            for (int64_t r = 0; r < rows; ++r, to += n)
              round_sums(sums + r * kPanel, columns, &to->bits);
          }
          first += taken;
        }
      },
      1);
}

}  // namespace mxnet
