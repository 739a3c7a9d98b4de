// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the sums.
#include "op/rnn/pair_sums.h"

#include "base/simd.h"
#include "base/stream_copy.h"

namespace mxnet::rnn::pair_sums {
namespace {

#define MX_SIMD_FILE "op/rnn/pair_sums.inc"
#include "base/simd_wide_targets.h"
#undef MX_SIMD_FILE

constexpr int kAvx512 = 2;  // the only set that is taken

}  // namespace

void sum_left(const float* first, const float* second, int64_t count, float* to, int64_t apart) {
  MX_SIMD_WIDE_AT(kAvx512, sum_left)(first, second, count, to, apart);
}

void sum_right(const float* panels, int64_t k, float* to) {
  const int64_t quarter = k / kBlocks * kWidth;
  constexpr int64_t kPiece = 8 * kWidth;  // what is between stays close
  alignas(64) float sums[kProducts * kPiece];
  for (int64_t at = 0; at < quarter; at += kPiece) {
    MX_SIMD_WIDE_AT(kAvx512, sum_right)(panels + at, quarter, kPiece, sums);
    for (int p = 0; p < kProducts; ++p)
      stream_copy(to + p * quarter + at, sums + p * kPiece, kPiece * sizeof(float));
  }
}

void add_products(const float* products, int64_t rows, float* first, float* second,
                  int64_t stride) {
  MX_SIMD_WIDE_AT(kAvx512, add_products)(products, rows, first, second, stride);
}

}  // namespace mxnet::rnn::pair_sums
