// SPDX-License-Identifier: Apache-2.0
// Twice is once of what once gives, some numbers at a time.
#include "op/products/strassen_sums.h"

#include "base/simd.h"
#include "base/stream_copy.h"

namespace mxnet::strassen_sums {
namespace {

#define MX_SIMD_FILE "op/products/strassen_sums.inc"
#include "base/simd_targets.h"

constexpr int64_t kMostOfPiece = kPiece * 32;  // columns of the widest vectors

// Of a piece of up to kPiece rows.
void write_right(const float* const (&quarters)[4], int64_t piece, float* to, int64_t apart) {
  alignas(64) float sums[kOnce * kMostOfPiece];
  MX_SIMD_CALL(sum_right)(quarters, piece, sums, piece);
  for (int p = 0; p < kOnce; ++p)
    stream_copy(to + p * apart, sums + p * piece, static_cast<std::size_t>(piece) * sizeof(float));
}

}  // namespace

void sum_left_twice(const float* const (&rows)[4], int64_t quarter, float* between, float* to,
                    int64_t apart) {
  const auto sum = MX_SIMD_CALL(sum_left);
  for (int inner = 0; inner < 4; ++inner) {
    const float *first = rows[inner / 2] + inner % 2 * quarter,
                *second = rows[2 + inner / 2] + inner % 2 * quarter;
    sum({first, first + 2 * quarter, second, second + 2 * quarter}, quarter,
        between + inner * quarter, 4 * quarter);
  }
  for (int p = 0; p < kOnce; ++p) {
    const float* first = between + p * 4 * quarter;
    sum({first, first + quarter, first + 2 * quarter, first + 3 * quarter}, quarter,
        to + p * kOnce * apart, apart);
  }
}

void sum_right_twice(const float* panels, int64_t panel, int64_t width, float* to) {
  const int64_t quarter = panel / 4, piece = kPiece * width;
  alignas(64) float between[4 * kOnce * kMostOfPiece];
  for (int64_t at = 0; at < quarter; at += piece) {
    for (int inner = 0; inner < 4; ++inner) {
      const float* first = panels + inner % 2 * panel + inner / 2 * quarter + at;
      const float* const blocks[4] = {first, first + 2 * panel, first + 2 * quarter,
                                      first + 2 * panel + 2 * quarter};
      MX_SIMD_CALL(sum_right)(blocks, piece, between + inner * piece, 4 * piece);
    }
    for (int p = 0; p < kOnce; ++p) {
      const float* first = between + p * 4 * piece;
      write_right({first, first + piece, first + 2 * piece, first + 3 * piece}, piece,
                  to + p * kOnce * quarter + at, quarter);
    }
  }
}

void sum_products(const float* products, int64_t apart, int64_t rows, int64_t count,
                  float* const (&to)[4], int64_t stride, bool add) {
  MX_SIMD_CALL(sum_products)(products, apart, rows, count, to, stride, add);
}

}  // namespace mxnet::strassen_sums
