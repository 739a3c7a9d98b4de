// SPDX-License-Identifier: Apache-2.0
// Threads divide the lines of the weight.
#include "op/nn/few_rows.h"

#include "base/error.h"
#include "base/simd.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/nn/few_rows.inc"
#include "base/simd_targets.h"
#undef MX_SIMD_FILE

}  // namespace

void multiply_few_rows(const DenseSizes& sizes, const float* data, const float* weight,
                       const LayerPost& post, float* out) {
  MX_ASSERT(sizes.rows >= 1 && sizes.rows <= kFewRows);
  const auto multiply = (*MX_SIMD_AT(simd_level(), kByRows))[sizes.rows - 1];
  // A product takes less than the load and the store that costs are counted in.
  const double cost = 0.25 * static_cast<double>(sizes.depth);
  parallel_for(
      sizes.hidden, cost,
      [&](int64_t first, int64_t last) { multiply(sizes, data, weight, post, first, last, out); },
      8);
}

}  // namespace mxnet
