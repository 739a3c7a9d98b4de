// SPDX-License-Identifier: Apache-2.0
// Threads divide the lines of the weight.
#include "op/products/few_rows.h"

#include <type_traits>

#include "base/error.h"
#include "base/half.h"
#include "base/simd.h"
#include "base/simd_intrinsics.h"
#include "base/stream_copy.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Bytes of a weight from which on nothing of it would be there at the next call.
constexpr int64_t kBeyondLastCache = 2 * kPastCaches;

#define MX_SIMD_FILE "op/products/few_rows.inc"
#include "base/simd_targets.h"
#undef MX_SIMD_FILE

void multiply_all(simd_v2::MultiplyRows multiply, const LayerSizes& sizes, const float* data,
                  const void* weight, const LayerPost& post, float* out) {
  // A product takes less than the load and the store that costs are counted in.
  const double cost = 0.25 * static_cast<double>(sizes.depth);
  parallel_for(
      sizes.hidden, cost,
      [&](int64_t first, int64_t last) { multiply(sizes, data, weight, post, first, last, out); },
      8);
}

}  // namespace

void multiply_few_rows(const LayerSizes& sizes, const float* data, const float* weight,
                       const LayerPost& post, float* out) {
  MX_ASSERT(sizes.rows >= 1 && sizes.rows <= kFewRows);
  multiply_all((*MX_SIMD_AT(simd_level(), kByRows))[sizes.rows - 1], sizes, data, weight, post,
               out);
}

bool has_half_few_rows() { return (*MX_SIMD_AT(simd_level(), kHalfByRows))[0] != nullptr; }

void multiply_few_rows(const LayerSizes& sizes, const float* data, const float16* weight,
                       const LayerPost& post, float* out) {
  MX_ASSERT(sizes.rows >= 1 && sizes.rows <= kFewRows && has_half_few_rows());
  multiply_all((*MX_SIMD_AT(simd_level(), kHalfByRows))[sizes.rows - 1], sizes, data, weight, post,
               out);
}

bool has_narrow_few_rows() { return (*MX_SIMD_AT(simd_level(), kNarrowByRows))[0] != nullptr; }

void multiply_few_rows(const LayerSizes& sizes, const float* data, const bfloat16* weight,
                       const LayerPost& post, float* out) {
  MX_ASSERT(sizes.rows >= 1 && sizes.rows <= kFewRows && has_narrow_few_rows());
  multiply_all((*MX_SIMD_AT(simd_level(), kNarrowByRows))[sizes.rows - 1], sizes, data, weight,
               post, out);
}

}  // namespace mxnet
