// SPDX-License-Identifier: Apache-2.0
// Threads divide the vectors of rows.
#include "op/fused/weight_rows.h"

#include "base/error.h"
#include "base/simd.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/fused/weight_rows.inc"
#include "base/simd_targets.h"
#undef MX_SIMD_FILE

// Bytes of a vector.
int64_t width() { return 4 * weight_square(); }

}  // namespace

int64_t weight_square() {
  // What the narrowest vectors turn is smaller than the squares that oneDNN has.
  return simd_level() >= 2 ? 16 : simd_level() == 1 ? 8 : 0;
}

bool turns_to_rows(const WeightSquares& weight) {
  const int64_t n = weight_square();
  if (n == 0 || (weight.element_bytes != 2 && weight.element_bytes != 4)) return false;
  const int64_t row = weight.channels * weight.pixels * static_cast<int64_t>(weight.element_bytes);
  return weight.filters % n == 0 && weight.channels % n == 0 && row % width() == 0;
}

void weight_to_rows(const WeightSquares& weight, const void* squares, void* rows) {
  MX_ASSERT(turns_to_rows(weight));
  const int64_t n = weight_square(), bytes = static_cast<int64_t>(weight.element_bytes);
  const auto turn =
      bytes == 4 ? *MX_SIMD_AT(simd_level(), kToRows) : *MX_SIMD_AT(simd_level(), kHalvesToRows);
  const int64_t count = weight.filters / n * (weight.channels * weight.pixels * bytes / width());
  // Of each of n rows a vector: a load, a store, and a few steps between registers.
  const double cost = 0.5 * static_cast<double>(n);
  parallel_for(
      count, cost, [&](int64_t first, int64_t last) { turn(weight, squares, rows, first, last); },
      1);
}

}  // namespace mxnet
