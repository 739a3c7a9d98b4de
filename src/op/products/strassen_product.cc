// SPDX-License-Identifier: Apache-2.0
// Rows and the inner dimension are cut into four parts, columns into panels of four by four: halves
// of halves. In the inner dimension blocks follow each other, so that the sums of some rows stay
// close; their results are added up.
#include "op/products/strassen_product.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/stream_copy.h"
#include "op/products/packed_gemm.h"
#include "op/products/strassen_sums.h"

namespace mxnet::strassen_product {
namespace {

using namespace strassen_sums;

// Rows of each of four parts that belong together, so that it does not matter for the numbers how
// many more there are.
constexpr int64_t kTile = kRowsTogether / 4;
constexpr int64_t kWidth = 32;         // columns of a panel
constexpr int64_t kUnit = 4 * kWidth;  // columns that belong together
constexpr int64_t kDepthStep = 64;     // quarters are whole vectors
constexpr int64_t kMostDepth = 1024;

// Blocks of the inner dimension, about equal.
int64_t depth_of_block(int64_t k) {
  const int64_t blocks = (k + kMostDepth - 1) / kMostDepth;
  return (k / blocks + kDepthStep - 1) / kDepthStep * kDepthStep;
}

// Left factors of rows of `depth` numbers, k apart: a quarter of the rows each.
void sum_rows(const float* a, int64_t rows, int64_t k, int64_t depth, float* between, float* to) {
  const int64_t height = rows / 4, quarter = depth / 4;
  const int64_t factor = factor_distance(height, quarter);
  for (int64_t r = 0; r < height; ++r) {
    const float* first = a + (r / kTile * kRowsTogether + r % kTile) * k;
    sum_left_twice({first, first + kTile * k, first + 2 * kTile * k, first + 3 * kTile * k},
                   quarter, between, to + r * quarter, factor);
  }
}

}  // namespace

bool divides(int64_t n, int64_t k) {
  // Below, sums take more than the multiplications that are saved.
  constexpr int64_t kLeast = 512;
  return packed_gemm::panel_columns<float>() == kWidth && n % kUnit == 0 && k % kDepthStep == 0 &&
         n >= kLeast && k >= kLeast;
}

bool may_multiply(int64_t m, int64_t n, int64_t k, const float* a, const float* w,
                  RowMagnitudes of_w) {
  const RowMagnitudes of_a = magnitudes_of_rows(a, m, k);
  // A factor has sums of 16 numbers; of the products four are added up, twice.
  constexpr float kNumbers = 16;
  const float depth = static_cast<float>(k);
  if (!std::isfinite(kNumbers * of_a.largest) || !std::isfinite(kNumbers * of_w.largest) ||
      !std::isfinite(kNumbers * of_a.largest * of_w.largest * depth))
    return false;
  // Of a row the error is one of the largest row that is mixed with it, which some products
  // do not show: large rows may be those that are looked at. About 4 for normally distributed
  // numbers; infinite (or NaN) where a row is of zeros, whose products are to stay exact.
  constexpr float kMostOfRows = 64;
  if (!(of_a.largest / of_a.least * (of_w.largest / of_w.least) <= kMostOfRows)) return false;
  // The errors are about 13 roundings of the left side, which is 23 times the quartile of the right
  // one for numbers distributed evenly around 0, some 50 times for normally distributed ones. (A
  // mean would be large where a few units have large weights for a feature of large numbers.)
  constexpr float kMost = 320;
  return of_a.largest * of_w.largest * std::sqrt(depth) <=
         kMost * quartile_of_some_products(m, n, k, a, w);
}

int64_t sums_size(int64_t n, int64_t k) { return kTwice * (k / 4) * (n / 4); }

void sum_matrix(const float* w, int64_t n, int64_t k, float* to) {
  const int64_t block = depth_of_block(k);
  parallel_for(
      n / kUnit, static_cast<double>(sums_size(kUnit, k)),
      [&](int64_t first, int64_t last) {
        std::vector<float> memory(static_cast<std::size_t>(kUnit * block + 16));
        float* panels = memory.data();
        panels += (64 - reinterpret_cast<uintptr_t>(panels) % 64) % 64 / sizeof(float);
        for (int64_t unit = first; unit < last; ++unit) {
          for (int64_t at = 0; at < k; at += block) {
            const int64_t depth = std::min(block, k - at);
            packed_gemm::pack<float>({w + unit * kUnit * k + at, 1, k}, depth, kUnit, 0, kUnit,
                                     panels);
            sum_right_twice(panels, depth * kWidth, kWidth,
                            to + sums_size(n, at) + unit * sums_size(kUnit, depth));
          }
        }
        finish_stream_copies();
      },
      1);
}

int64_t scratch_size(int64_t k) {
  const int64_t quarter = depth_of_block(k) / 4, height = kMostRows / 4;
  return kTwice * factor_distance(height, quarter) + 4 * kOnce * quarter +
         5 * kOnce * height * kWidth;
}

void multiply(int64_t rows, int64_t n, int64_t k, const float* a, const float* sums, float* c,
              bool add, float* scratch, RangeBody finished) {
  const int64_t block = depth_of_block(k), height = rows / 4, product = height * kWidth;
  for (int64_t at = 0; at < k; at += block) {
    const int64_t depth = std::min(block, k - at), quarter = depth / 4;
    const int64_t factor = factor_distance(height, quarter);
    float* products = scratch;
    float* halves = products + kOnce * product;
    float* left = halves + 4 * kOnce * product;
    sum_rows(a + at, rows, k, depth, left + kTwice * factor, left);
    const float* right = sums + sums_size(n, at);
    for (int64_t unit = 0; unit < n; unit += kUnit) {
      for (int group = 0; group < kOnce; ++group, right += kOnce * quarter * kWidth) {
        packed_gemm::multiply_panels(kOnce, height, quarter, left + group * kOnce * factor, factor,
                                     right, right + kOnce * quarter * kWidth, products, product,
                                     kWidth);
        float* first = halves + group * product;
        constexpr int kNext = kOnce;  // from quarter to quarter, each of seven products
        float* const to[4] = {first, first + kNext * product, first + 2 * kNext * product,
                              first + 3 * kNext * product};
        sum_products(products, product, height, kWidth, to, kWidth, false);
      }
      for (int inner = 0; inner < 4; ++inner) {
        const float* from = halves + inner * kOnce * product;
        for (int64_t t = 0; t < height; t += kTile) {
          float* first = c + (4 * t + inner / 2 * kTile) * n + unit + inner % 2 * kWidth;
          float* second = first + 2 * kTile * n;
          float* const to[4] = {first, first + 2 * kWidth, second, second + 2 * kWidth};
          sum_products(from + t * kWidth, product, kTile, kWidth, to, n, at > 0 || add);
        }
      }
      if (at + depth == k) finished.run(finished.body, unit, unit + kUnit);
    }
  }
}

}  // namespace mxnet::strassen_product
