// SPDX-License-Identifier: Apache-2.0
// The order of sums and products: by columns, so that the products of a tile's quarters
// are summed while they are in the first-level cache.
#include "op/rnn/strassen.h"

#include <algorithm>

#include "op/products/strassen_sums.h"
#include "op/rnn/pair_sums.h"

namespace mxnet::rnn::strassen {
namespace {

using namespace strassen_sums;

constexpr int kGates = 4;
constexpr int64_t kWide = 32;  // columns of a panel of AVX-512

// Where panels are narrower, registers are few, and so is what a second-level cache holds.
bool has_wide_panels() { return columns() >= kWide; }

// Columns that one reading of the rows' sums serves; they divide `hidden`.
int64_t wide_columns() { return std::max(columns(), kWide); }

}  // namespace

int64_t columns() { return packed_gemm::panel_columns<float>(); }

int64_t input_rows() { return has_wide_panels() ? 64 : kMostRows; }

bool gains_on_state() { return has_wide_panels(); }

bool divides(int64_t batch, int64_t input_size, int64_t hidden) {
  // Below, sums take more than the eighth of the products that is saved.
  constexpr int64_t kLeast = 256;
  return batch % (2 * kTile) == 0 && input_size % 64 == 0 && hidden % 64 == 0 &&
         input_size >= kLeast && hidden >= kLeast;
}

int64_t input_sums(int64_t k, int64_t units) { return kTwice * (k / 4) * units; }
int64_t state_sums(int64_t k, int64_t units) { return pair_sums::kProducts * (k / 4) * units; }

void sum_input_weights(const float* panels, int64_t k, float* to) {
  // Quarters are the halves of halves of k, and gates: pairs of gates are halves, and in a pair
  // each of both.
  sum_right_twice(panels, k * columns(), columns(), to);
}

void sum_state_weights(const float* panels, int64_t k, float* to) {
  pair_sums::sum_right(panels, k, to);
}

int64_t input_scratch(int64_t rows, int64_t k) {
  // Sums of the rows and, of one row, those between; products, and quarters of their sums.
  return kTwice * factor_distance(rows / 4, k / 4) + kOnce * k +
         5 * kOnce * rows / 4 * wide_columns();
}
int64_t state_scratch(int64_t rows, int64_t k) {
  return pair_sums::kProducts * (factor_distance(rows / 2, k / 4) + rows / 2 * columns());
}

StateProducts::StateProducts(int64_t rows, int64_t k, const float* sums, int64_t hidden,
                             float* scratch)
    : pairs_(rows / 2),
      quarter_(k / pair_sums::kBlocks),
      hidden_(hidden),
      sums_(sums),
      left_(scratch),
      factor_(factor_distance(pairs_, quarter_)),
      products_(scratch + pair_sums::kProducts * factor_) {}

void StateProducts::sum_rows(std::span<const Tile> tiles) {
  const int64_t k = quarter_ * pair_sums::kBlocks;
  for (int64_t r = 0; r < pairs_; ++r) {
    const auto from = [&](int64_t half) {
      return tiles[static_cast<std::size_t>((half * pairs_ + r) / kTile)].from + r % kTile * k;
    };
    pair_sums::sum_left(from(0), from(1), quarter_, left_ + r * quarter_, factor_);
  }
}

void StateProducts::clear() {
  std::fill_n(products_, pairs_ * pair_sums::kProducts * pair_sums::kWidth, 0.0F);
}

void StateProducts::multiply(int64_t unit, const packed_gemm::Later& later) {
  constexpr int kProducts = pair_sums::kProducts;
  constexpr int64_t kWidth = pair_sums::kWidth;
  const int64_t block = kProducts * quarter_ * kWidth, at = unit / kWidth;
  const float* const right = sums_ + at * block;
  packed_gemm::multiply_panels(kProducts, pairs_, quarter_, left_, factor_, right,
                               unit + kWidth == hidden_ ? sums_ : right + block, products_, kWidth,
                               kProducts * kWidth, later);
}

void multiply_input(std::span<const Tile> tiles, int64_t k, const float* sums, int64_t hidden,
                    int64_t apart, float* scratch) {
  const int64_t width = columns(), quarter = k / 4, panels = wide_columns() / width;
  const auto count = static_cast<int64_t>(tiles.size()) / 4, rows = count * kTile;
  const int64_t factor = factor_distance(rows, quarter), panel = rows * width,
                product = panels * panel;
  float* left = scratch;
  float* between = left + kTwice * factor;  // of one row
  float* products = between + 4 * kOnce * quarter;
  float* halves = products + kOnce * product;
  const auto tile = [&](int64_t i, int64_t t) -> const Tile& {
    return tiles[static_cast<std::size_t>(i * count + t)];
  };
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = [&](int quarter) { return tile(quarter, r / kTile).from + r % kTile * k; };
    sum_left_twice({row(0), row(1), row(2), row(3)}, quarter, between, left + r * quarter, factor);
  }
  const int64_t of_panel = kTwice * quarter * width;  // sums of weights
  // Products that follow each other where each reading of rows serves one panel.
  const int each = panels == 1 ? kOnce : 1;
  // The rows of both halves of a sum follow each other; the last products before a block's results
  // fetch these, as many as there is time for.
  const auto results = [&](int64_t block, int group) -> packed_gemm::Later {
    const int64_t pair = group - (kOnce - 2 * count);
    if (pair < 0) return {};
    return {tile(pair / count * 2, pair % count).to + block * apart, 2 * kTile * kGates * width};
  };
  for (int64_t unit = 0; unit < hidden; unit += panels * width) {
    const float* const first_right = sums + unit / width * of_panel;
    const float* const next_right =
        unit + panels * width == hidden ? sums : first_right + panels * of_panel;
    for (int p = 0; p < kTwice; p += each) {
      for (int64_t i = 0; i < panels; ++i) {
        const float* right = first_right + i * of_panel + p * quarter * width;
        const float* next = i + 1 < panels      ? right + of_panel
                            : p + each < kTwice ? first_right + (p + each) * quarter * width
                                                : next_right;
        packed_gemm::multiply_panels(each, rows, quarter, left + p * factor, factor, right, next,
                                     products + p % kOnce * product + i * panel, product, width,
                                     results(unit / width + i, p / kOnce));
      }
      if ((p + each) % kOnce != 0) continue;
      float* first = halves + p / kOnce * product;
      constexpr int kNext = kOnce;  // from quarter to quarter, each of seven products
      float* const to[4] = {first, first + kNext * product, first + 2 * kNext * product,
                            first + 3 * kNext * product};
      sum_products(products, product, panels * rows, width, to, width, false);
    }
    for (int64_t i = 0; i < panels; ++i) {
      for (int inner = 0; inner < 4; ++inner) {
        for (int64_t t = 0; t < count; ++t) {
          const int64_t at = (unit / width + i) * apart + inner % 2 * width;
          float *a = tile(inner / 2, t).to + at, *b = tile(2 + inner / 2, t).to + at;
          float* const to[4] = {a, a + 2 * width, b, b + 2 * width};
          sum_products(halves + inner * kOnce * product + i * panel + t * kTile * width, product,
                       kTile, width, to, kGates * width, false);
        }
      }
    }
  }
}

}  // namespace mxnet::rnn::strassen
