// SPDX-License-Identifier: Apache-2.0
// Threads divide the squares.
#include "op/fused/weight_rows.h"

#include "base/error.h"
#include "base/simd.h"
#include "op/parallel.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/fused/weight_rows.inc"
#include "base/simd_targets.h"
#undef MX_SIMD_FILE

}  // namespace

int64_t weight_square() {
  // What the narrowest vectors turn is smaller than the squares that oneDNN has.
  return simd_level() >= 2 ? 16 : simd_level() == 1 ? 8 : 0;
}

void weight_to_rows(const WeightSquares& weight, const float* squares, float* rows) {
  const int64_t n = weight_square();
  MX_ASSERT(n > 0 && weight.filters % n == 0 && weight.channels % n == 0);
  const auto turn = *MX_SIMD_AT(simd_level(), kToRows);
  const int64_t count = weight.filters / n * (weight.channels / n);
  // A line is a load, a store, and a few steps between registers.
  const double cost = 0.5 * static_cast<double>(n * weight.pixels);
  parallel_for(
      count, cost, [&](int64_t first, int64_t last) { turn(weight, squares, rows, first, last); },
      1);
}

}  // namespace mxnet
