// SPDX-License-Identifier: Apache-2.0
// The order of Strassen's sums and products: by columns, so that the products of a tile's quarters
// are summed while they are in the first-level cache.
#include "op/rnn/strassen.h"

#include <algorithm>
#include <vector>

#include "base/simd.h"
#include "base/stream_copy.h"
#include "op/products/packed_gemm.h"

namespace mxnet::rnn::strassen {
namespace {

#define MX_SIMD_FILE "op/products/strassen_sums.inc"
#include "base/simd_targets.h"

constexpr int kProducts = 7, kTwice = kProducts * kProducts;
constexpr int kGates = 4;
constexpr int64_t kWide = 32;  // columns of a panel of AVX-512

// Rows of weights that are summed at once; they divide a quarter of k.
constexpr int64_t kPiece = 8;

// Right factors, `apart` numbers from each other, of a piece. They go past the caches: other cores
// still have what was there before, and taking the lines back from them one by one takes longer
// than memory does.
void sum_past_caches(const float* const (&quarters)[4], int64_t piece, float* to, int64_t apart) {
  constexpr int64_t kMost = kPiece * 32;  // columns of the widest vectors
  alignas(64) float sums[kProducts * kMost];
  MX_SIMD_CALL(sum_right)(quarters, piece, sums, piece);
  for (int p = 0; p < kProducts; ++p)
    stream_copy(to + p * apart, sums + p * piece, static_cast<std::size_t>(piece) * sizeof(float));
}

// Where panels are narrower, registers are few, and so is what a second-level cache holds.
bool has_wide_panels() { return columns() >= kWide; }

// Columns that one reading of the rows' sums serves; they divide `hidden`.
int64_t wide_columns() { return std::max(columns(), kWide); }

}  // namespace

int64_t columns() { return packed_gemm::panel_columns<float>(); }

int64_t input_rows() { return has_wide_panels() ? 64 : 256; }

bool gains_on_state() { return has_wide_panels(); }

bool divides(int64_t batch, int64_t input_size, int64_t hidden) {
  // Below, sums take more than the eighth of the products that is saved.
  constexpr int64_t kLeast = 256;
  return batch % (2 * kTile) == 0 && input_size % 64 == 0 && hidden % 64 == 0 &&
         input_size >= kLeast && hidden >= kLeast;
}

int64_t input_sums(int64_t k, int64_t units) { return kTwice * (k / 4) * units; }
int64_t state_sums(int64_t k, int64_t units) { return kProducts * (k / 2) * 2 * units; }

void sum_input_weights(const float* panels, int64_t k, float* to) {
  const int64_t width = columns(), panel = k * width, quarter = panel / 4;
  // Quarters are the halves of halves of k, and gates: pairs of gates are halves, and in a pair
  // each of both. Some rows at a time, so that the sums between stay close.
  const int64_t piece = kPiece * width;
  std::vector<float> once(static_cast<std::size_t>(4 * kProducts * piece));
  for (int64_t at = 0; at < quarter; at += piece) {
    for (int inner = 0; inner < 4; ++inner) {
      const float* first = panels + inner % 2 * panel + inner / 2 * quarter + at;
      const float* const blocks[4] = {first, first + 2 * panel, first + 2 * quarter,
                                      first + 2 * panel + 2 * quarter};
      MX_SIMD_CALL(sum_right)(blocks, piece, once.data() + inner * piece, 4 * piece);
    }
    for (int p = 0; p < kProducts; ++p) {
      const float* first = once.data() + p * 4 * piece;
      const float* const blocks[4] = {first, first + piece, first + 2 * piece, first + 3 * piece};
      sum_past_caches(blocks, piece, to + p * kProducts * quarter + at, quarter);
    }
  }
}

void sum_state_weights(const float* panels, int64_t k, float* to) {
  const int64_t panel = k * columns(), half = panel / 2;
  for (int gate = 0; gate < 2; ++gate, to += kProducts * half) {
    const float* first = panels + gate * panel;
    for (int64_t at = 0; at < half; at += kPiece * columns()) {
      const float* const blocks[4] = {first + at, first + 2 * panel + at, first + half + at,
                                      first + 2 * panel + half + at};
      sum_past_caches(blocks, kPiece * columns(), to + at, half);
    }
  }
}

int64_t input_scratch(int64_t rows, int64_t k) {
  // Sums of the rows and, of one row, those between; products, and quarters of their sums.
  return (kTwice * rows / 4 + 4 * kProducts) * k / 4 + 5 * kProducts * rows / 4 * wide_columns();
}
int64_t state_scratch(int64_t rows, int64_t k) {
  return kProducts * rows / 2 * (k / 2 + columns());
}

void multiply_state(std::span<const Tile> tiles, int64_t k, const float* sums, int64_t hidden,
                    int64_t apart, float* scratch) {
  const int64_t width = columns(), half = k / 2;
  const auto pairs = static_cast<int64_t>(tiles.size()) / 2, rows = pairs * kTile;
  float* left = scratch;
  float* products = left + kProducts * rows * half;
  const auto tile = [&](int64_t quarter, int64_t t) -> const Tile& {
    return tiles[static_cast<std::size_t>(quarter * pairs + t)];
  };
  for (int64_t r = 0; r < rows; ++r) {
    const float *a = tile(0, r / kTile).from + r % kTile * k,
                *b = tile(1, r / kTile).from + r % kTile * k;
    const float* const blocks[4] = {a, a + half, b, b + half};
    MX_SIMD_CALL(sum_left)(blocks, half, left + r * half, rows * half);
  }
  const float* const end = sums + state_sums(k, hidden);
  const float* right = sums;
  for (int64_t unit = 0; unit < hidden; unit += width) {
    for (int gate = 0; gate < 2; ++gate) {
      for (int p = 0; p < kProducts; ++p) {
        const float* next = right + half * width;
        packed_gemm::multiply_panel(rows, half, left + p * rows * half, half, right,
                                    next == end ? sums : next, products + p * rows * width, width,
                                    false);
        right = next;
      }
      for (int64_t t = 0; t < pairs; ++t) {
        const int64_t at = unit / width * apart + gate * width;
        float *a = tile(0, t).to + at, *b = tile(1, t).to + at;
        float* const to[4] = {a, a + 2 * width, b, b + 2 * width};
        MX_SIMD_CALL(sum_products<true>)
        (products + t * kTile * width, rows * width, kTile, width, to, kGates * width);
      }
    }
  }
}

void multiply_input(std::span<const Tile> tiles, int64_t k, const float* sums, int64_t hidden,
                    int64_t apart, float* scratch) {
  const int64_t width = columns(), quarter = k / 4, panels = wide_columns() / width;
  const auto count = static_cast<int64_t>(tiles.size()) / 4, rows = count * kTile;
  const int64_t factor = rows * quarter, panel = rows * width, product = panels * panel;
  float* left = scratch;
  float* once = left + kTwice * factor;  // of one row
  float* products = once + 4 * kProducts * quarter;
  float* halves = products + kProducts * product;
  const auto tile = [&](int64_t i, int64_t t) -> const Tile& {
    return tiles[static_cast<std::size_t>(i * count + t)];
  };
  for (int64_t r = 0; r < rows; ++r) {
    for (int inner = 0; inner < 4; ++inner) {
      const int64_t at = r % kTile * k + inner % 2 * quarter;
      const float *a = tile(inner / 2, r / kTile).from + at,
                  *b = tile(2 + inner / 2, r / kTile).from + at;
      const float* const blocks[4] = {a, a + 2 * quarter, b, b + 2 * quarter};
      MX_SIMD_CALL(sum_left)(blocks, quarter, once + inner * quarter, 4 * quarter);
    }
    for (int p = 0; p < kProducts; ++p) {
      const float* first = once + p * 4 * quarter;
      const float* const blocks[4] = {first, first + quarter, first + 2 * quarter,
                                      first + 3 * quarter};
      MX_SIMD_CALL(sum_left)(blocks, quarter, left + p * kProducts * factor + r * quarter, factor);
    }
  }
  const int64_t of_panel = kTwice * quarter * width;  // sums of weights
  for (int64_t unit = 0; unit < hidden; unit += panels * width) {
    const float* const first_right = sums + unit / width * of_panel;
    const float* const next_right =
        unit + panels * width == hidden ? sums : first_right + panels * of_panel;
    for (int p = 0; p < kTwice; ++p) {
      for (int64_t i = 0; i < panels; ++i) {
        const float* right = first_right + i * of_panel + p * quarter * width;
        const float* next = i + 1 < panels   ? right + of_panel
                            : p + 1 < kTwice ? first_right + (p + 1) * quarter * width
                                             : next_right;
        packed_gemm::multiply_panel(rows, quarter, left + p * factor, quarter, right, next,
                                    products + p % kProducts * product + i * panel, width, false);
      }
      if (p % kProducts != kProducts - 1) continue;
      float* first = halves + p / kProducts * product;
      constexpr int kNext = kProducts;  // from quarter to quarter, each of seven products
      float* const to[4] = {first, first + kNext * product, first + 2 * kNext * product,
                            first + 3 * kNext * product};
      MX_SIMD_CALL(sum_products<false>)(products, product, panels * rows, width, to, width);
    }
    for (int64_t i = 0; i < panels; ++i) {
      for (int inner = 0; inner < 4; ++inner) {
        for (int64_t t = 0; t < count; ++t) {
          const int64_t at = (unit / width + i) * apart + inner % 2 * width;
          float *a = tile(inner / 2, t).to + at, *b = tile(2 + inner / 2, t).to + at;
          float* const to[4] = {a, a + 2 * width, b, b + 2 * width};
          MX_SIMD_CALL(sum_products<false>)
          (halves + inner * kProducts * product + i * panel + t * kTile * width, product, kTile,
           width, to, kGates * width);
        }
      }
    }
  }
}

}  // namespace mxnet::rnn::strassen
