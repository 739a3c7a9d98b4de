// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bfloat16, as those of packed_gemm.inc are.
#include "op/packed_bfloat16.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bfloat16_pairs.h"
#include "base/cpu_info.h"
#include "base/simd.h"

namespace mxnet::packed_bfloat16 {
namespace {

constexpr int kTileRows = 8, kTileVectors = 2;  // sums of a tile
constexpr int64_t kPanel = kTileVectors * PairSums::kCount;

// c[rows][columns] (+)= a[rows][pairs] b[pairs][vectors]; the columns that c lacks are anything in
// b. `next` is fetched meanwhile, a cache line a step.
template <int rows, int vectors>
MX_BFLOAT16_PAIRS void tile(int64_t pairs, const bfloat16* a, int64_t a_row, const float* b,
                            const float* next, float* c, int64_t ldc, int64_t columns, bool add) {
  PairSums sum[rows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sum[r][v] = PairSums::zero();
  }
  for (int64_t i = 0; i < pairs; ++i, a += 2, b += vectors * PairSums::kCount, next += 16) {
    __builtin_prefetch(next, 0, 2);
    PairSums right[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) right[v] = PairSums::load(b + v * PairSums::kCount);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      Bfloat16Pair left;
      std::memcpy(&left, a + r * a_row, sizeof(left));
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[r][v].add(left, right[v]);
    }
  }
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

using Tile = void (*)(int64_t, const bfloat16*, int64_t, const float*, const float*, float*,
                      int64_t, int64_t, bool);
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

}  // namespace

bool available() {
  static const bool has = simd_level() == 2 && cpu_features().avx512bf16;
  return has;
}

void multiply(int64_t m, int64_t n, int64_t k, const bfloat16* a, int64_t a_row,
              const float* packed, float* c, int64_t ldc, bool add, int64_t first, int64_t last) {
  static constexpr TileTable kTiles = all_tiles();
  // A panel's slice and the rows that meet it stay in the second-level cache.
  constexpr int64_t kDepth = 1024, kRows = 72;  // depth in pairs
  const int64_t pairs = k / 2;
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
          // The first tiles fetch the slice after this one, a vector of its columns each.
          const float* fetched = tiles < vectors ? next + tiles * depth * 16 : right;
          kTiles.at[vectors - 1][count - 1](depth, a + (top + r) * a_row + 2 * start, a_row, right,
                                            fetched, c + (top + r) * ldc + p, ldc, columns, adds);
        }
      }
    }
  }
}

}  // namespace mxnet::packed_bfloat16
