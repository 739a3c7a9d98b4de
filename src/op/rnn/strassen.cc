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

// The products of some rows of an input, a few panels of units at a time.
class InputProducts {
 public:
  InputProducts(std::span<const Tile> tiles, int64_t k, const float* sums, int64_t hidden,
                int64_t apart, float* scratch)
      : tiles_(tiles),
        k_(k),
        sums_(sums),
        hidden_(hidden),
        apart_(apart),
        left_(scratch),
        between_(left_ + kTwice * factor_),
        products_(between_ + 4 * kOnce * quarter_),
        halves_(products_ + kOnce * product_) {}

  void run() {
    sum_rows();
    for (int64_t unit = 0; unit < hidden_; unit += panels_ * width_) {
      multiply(unit);
      finish(unit);
    }
  }

 private:
  const Tile& tile(int64_t quarter, int64_t t) const {
    return tiles_[static_cast<std::size_t>(quarter * count_ + t)];
  }

  void sum_rows() {
    for (int64_t r = 0; r < rows_; ++r) {
      const auto row = [&](int quarter) { return tile(quarter, r / kTile).from + r % kTile * k_; };
      sum_left_twice({row(0), row(1), row(2), row(3)}, quarter_, between_, left_ + r * quarter_,
                     factor_);
    }
  }

  // The rows of both halves of a sum follow each other; the last products before a block's results
  // fetch these, as many as there is time for.
  packed_gemm::Later results(int64_t block, int group) const {
    const int64_t pair = group - (kOnce - 2 * count_);
    if (pair < 0) return {};
    return {tile(pair / count_ * 2, pair % count_).to + block * apart_,
            2 * kTile * kGates * width_};
  }

  // Products of the panels that begin at `unit`, summed to the quarters of their results.
  void multiply(int64_t unit) {
    const float* const first_right = sums_ + unit / width_ * of_panel_;
    const float* const next_right =
        unit + panels_ * width_ == hidden_ ? sums_ : first_right + panels_ * of_panel_;
    // Products that follow each other where each reading of rows serves one panel.
    const int each = panels_ == 1 ? kOnce : 1;
    for (int p = 0; p < kTwice; p += each) {
      for (int64_t i = 0; i < panels_; ++i) {
        const float* right = first_right + i * of_panel_ + p * quarter_ * width_;
        const float* next = i + 1 < panels_     ? right + of_panel_
                            : p + each < kTwice ? first_right + (p + each) * quarter_ * width_
                                                : next_right;
        packed_gemm::multiply_panels(each, rows_, quarter_, left_ + p * factor_, factor_, right,
                                     next, products_ + p % kOnce * product_ + i * panel_, product_,
                                     width_, results(unit / width_ + i, p / kOnce));
      }
      if ((p + each) % kOnce != 0) continue;
      float* first = halves_ + p / kOnce * product_;
      constexpr int kNext = kOnce;  // from quarter to quarter, each of seven products
      float* const to[4] = {first, first + kNext * product_, first + 2 * kNext * product_,
                            first + 3 * kNext * product_};
      sum_products(products_, product_, panels_ * rows_, width_, to, width_, false);
    }
  }

  // Sums the quarters of the panels that begin at `unit` to the tiles.
  void finish(int64_t unit) const {
    for (int64_t i = 0; i < panels_; ++i) {
      for (int inner = 0; inner < 4; ++inner) {
        for (int64_t t = 0; t < count_; ++t) {
          const int64_t at = (unit / width_ + i) * apart_ + inner % 2 * width_;
          float *a = tile(inner / 2, t).to + at, *b = tile(2 + inner / 2, t).to + at;
          float* const to[4] = {a, a + 2 * width_, b, b + 2 * width_};
          sum_products(halves_ + inner * kOnce * product_ + i * panel_ + t * kTile * width_,
                       product_, kTile, width_, to, kGates * width_, false);
        }
      }
    }
  }

  const std::span<const Tile> tiles_;  // those of the four quarters, one after the other
  const int64_t k_;
  const float* const sums_;
  const int64_t hidden_, apart_;
  const int64_t width_ = columns(), quarter_ = k_ / 4, panels_ = wide_columns() / width_;
  const int64_t count_ = static_cast<int64_t>(tiles_.size()) / 4, rows_ = count_ * kTile;
  // Numbers between factors, of a panel and of a product, and of a panel's sums of weights.
  const int64_t factor_ = factor_distance(rows_, quarter_), panel_ = rows_ * width_,
                product_ = panels_ * panel_, of_panel_ = kTwice * quarter_ * width_;
  float *const left_, *const between_;  // sums of the rows; of one row, those between
  float *const products_, *const halves_;
};

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
  InputProducts(tiles, k, sums, hidden, apart, scratch).run();
}

}  // namespace mxnet::rnn::strassen
