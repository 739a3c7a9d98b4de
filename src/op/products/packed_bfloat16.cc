// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bfloat16, as those of packed_tiles.inc are.
#include "op/products/packed_bfloat16.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/simd.h"
#include "op/loops/convert.h"
#include "op/products/pair_sums.h"
#include "op/run/parallel.h"

namespace mxnet::packed_bfloat16 {
namespace {

constexpr int kTileRows = 8, kTileVectors = 2;  // sums of a tile
constexpr int64_t kPanel = kTileVectors * PairSums::kCount;

// The left factor: eight rows after the other, `block` elements apart; distances of their rows and
// of pairs in a row.
struct Left {
  const bfloat16* data;
  int64_t block, row, pair;
};

// c[rows][columns] (+)= a[rows][pairs] b[pairs][vectors]; the columns that c lacks are anything in
// b. `next` is fetched meanwhile, a cache line a step.
template <int rows, int vectors>
MX_BFLOAT16_PAIRS void tile(int64_t pairs, const Left& left, const float* b, const float* next,
                            float* c, int64_t ldc, int64_t columns, bool add) {
  PairSums sum[rows][vectors];
  sum_pairs<true>(pairs, left.data, left.row, left.pair, b, next, sum);
  if (columns == vectors * PairSums::kCount) {
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        float* to = c + r * ldc + v * PairSums::kCount;
        if (add) sum[r][v].add(PairSums::load(to));
        sum[r][v].store(to);
      }
    }
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float row[vectors * PairSums::kCount];
    for (int v = 0; v < vectors; ++v) sum[r][v].store(row + v * PairSums::kCount);
    float* to = c + r * ldc;
    for (int64_t j = 0; j < columns; ++j) to[j] = add ? to[j] + row[j] : row[j];
  }
}

using Tile = void (*)(int64_t, const Left&, const float*, const float*, float*, int64_t, int64_t,
                      bool);
template <int vectors, int... rows>
constexpr void fill_tiles(Tile (&tiles)[kTileRows], std::integer_sequence<int, rows...>) {
  ((tiles[rows] = tile<rows + 1, vectors>), ...);
}
struct TileTable {
  Tile at[kTileVectors][kTileRows];  // by vectors - 1, rows - 1
};
constexpr TileTable all_tiles() {
  TileTable table{};
  fill_tiles<1>(table.at[0], std::make_integer_sequence<int, kTileRows>());
  fill_tiles<2>(table.at[1], std::make_integer_sequence<int, kTileRows>());
  return table;
}

// As multiply() of the header; `left` are all rows of c.
void multiply_left(int64_t m, int64_t n, int64_t pairs, const Left& left, const float* packed,
                   float* c, int64_t ldc, bool add, int64_t first, int64_t last) {
  static constexpr TileTable kTiles = all_tiles();
  // A panel's slice and the rows that meet it stay in the second-level cache.
  constexpr int64_t kDepth = 1024, kRows = 72;  // depth in pairs
  for (int64_t start = 0; start < pairs || start == 0; start += kDepth) {
    const int64_t depth = std::min(kDepth, pairs - start);
    const bool adds = add || start > 0;
    for (int64_t top = 0; top < m; top += kRows) {
      const int64_t rows = std::min(kRows, m - top);
      for (int64_t p = first; p < last; p += kPanel) {
        const int64_t columns = std::min(kPanel, n - p);
        const int64_t vectors = (columns + PairSums::kCount - 1) / PairSums::kCount;
        const int64_t width = vectors * PairSums::kCount;
        const float* right = packed + p * pairs + start * width;
        const float* next = p + kPanel < last ? packed + (p + kPanel) * pairs + start * width
                                              : packed + first * pairs + start * width;
        int64_t tiles = 0;
        for (int64_t r = 0; r < rows; r += kTileRows, ++tiles) {
          const int64_t count = std::min<int64_t>(kTileRows, rows - r);
          const Left block{left.data + (top + r) / kTileRows * left.block + start * left.pair,
                           left.block, left.row, left.pair};
          // The first tiles fetch the slice after this one, a vector of its columns each.
          const float* fetched = tiles < vectors ? next + tiles * depth * 16 : right;
          kTiles.at[vectors - 1][count - 1](depth, block, right, fetched, c + (top + r) * ldc + p,
                                            ldc, columns, adds);
        }
      }
    }
  }
}

constexpr int64_t pairs_of(int64_t k) { return (k + 1) / 2; }

// Columns [first, last) of k rows, as packed_gemm::pack() lays out so many pairs.
void pack_right(const packed_gemm::View<float>& b, int64_t k, int64_t n, int64_t first,
                int64_t last, float* packed) {
  for (int64_t p = first; p < last; p += kPanel) {
    const int64_t columns = std::min(kPanel, n - p);
    const int64_t width = (columns + PairSums::kCount - 1) / PairSums::kCount * PairSums::kCount;
    float* to = packed + p * pairs_of(k);
    for (int64_t i = 0; i < k; i += 2, to += width) {
      Bfloat16Pair pairs[kPanel] = {};
      const float* low = b.data + i * b.row + p;
      pair_up(low, i + 1 < k ? low + b.row : nullptr, columns, pairs);
      std::memcpy(to, pairs, static_cast<std::size_t>(width) * sizeof(float));
    }
  }
}

// Rows [first, last) of a matrix whose columns are contiguous, in blocks of eight, pair by pair.
void pack_left(const packed_gemm::View<float>& a, int64_t k, int64_t first, int64_t last,
               bfloat16* packed) {
  constexpr int64_t kTogether = 8 * kTileRows;
  for (int64_t r = first; r < last; r += kTogether) {
    const int64_t rows = std::min(kTogether, last - r);
    for (int64_t i = 0; i < k; i += 2) {
      Bfloat16Pair pairs[kTogether] = {};
      const float* low = a.data + r + i * a.column;
      pair_up(low, i + 1 < k ? low + a.column : nullptr, rows, pairs);
      for (int64_t block = 0; block < rows; block += kTileRows) {
        bfloat16* to = packed + 2 * ((r + block) * pairs_of(k) + i / 2 * kTileRows);
        std::memcpy(to, pairs + block, kTileRows * sizeof(Bfloat16Pair));
      }
    }
  }
}

}  // namespace

bool available() {
  static const bool has = simd_level() == 2 && simd_features().avx512bf16;
  return has;
}

void multiply(int64_t m, int64_t n, int64_t k, const bfloat16* a, int64_t a_row,
              const float* packed, float* c, int64_t ldc, bool add, int64_t first, int64_t last) {
  multiply_left(m, n, k / 2, {a, kTileRows * a_row, a_row, 2}, packed, c, ldc, add, first, last);
}

void product(int64_t m, int64_t n, int64_t k, const packed_gemm::View<float>& a,
             const packed_gemm::View<float>& b, float* c, int64_t ldc, bool add,
             KernelContext& context) {
  if (m == 0 || n == 0) return;
  const int64_t pairs = pairs_of(k), blocks = (m + kTileRows - 1) / kTileRows;
  auto* right = context.workspace_of<float>(packed_gemm::packed_size<float>(pairs, n));
  auto* left = context.workspace_of<bfloat16>(2 * blocks * kTileRows * pairs);
  const auto cost = static_cast<double>(k);
  parallel_for(
      n, cost, [&](int64_t first, int64_t last) { pack_right(b, k, n, first, last, right); },
      kPanel);
  const bool by_rows = a.column == 1 && k % 2 == 0;
  parallel_for(
      m, cost,
      [&](int64_t first, int64_t last) {
        if (!by_rows) return pack_left(a, k, first, last, left);
        for (int64_t r = first; r < last; ++r) convert_array(a.data + r * a.row, left + r * k, k);
      },
      kTileRows);
  const int64_t block = 2 * kTileRows * pairs;
  const Left all = by_rows ? Left{left, block, k, 2} : Left{left, block, 2, 2 * kTileRows};
  // A thirty-second of a product and addition is about the unit of the cost model.
  parallel_for(
      m, cost / 32 * static_cast<double>(n),
      [&](int64_t first, int64_t last) {
        const Left part{all.data + first / kTileRows * block, block, all.row, all.pair};
        multiply_left(last - first, n, pairs, part, right, c + first * ldc, ldc, add, 0, n);
      },
      kTileRows);
}

}  // namespace mxnet::packed_bfloat16
