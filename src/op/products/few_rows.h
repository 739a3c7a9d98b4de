// SPDX-License-Identifier: Apache-2.0
// Fully connected layers of a few rows, and products of a matrix and a vector of half types. Each
// factor of the weight is used so seldom that reading it is what takes the time: it is read once,
// where it lies.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "op/products/layer_post.h"

namespace mxnet {

// out (rows, hidden) = data (rows, depth) times the transpose of weight (hidden, depth).
struct LayerSizes {
  int64_t rows, hidden, depth;
};

// With more the registers do not hold the sums of enough lines of the weight.
inline constexpr int64_t kFewRows = 4;

// Whether the layer is one of these. Smaller weights stay in caches, where other kernels, which
// pack what they read, are up to twice as fast (docs/onednn.md).
inline bool is_few_rows(const LayerSizes& sizes) {
  constexpr int64_t kCachedWeight = int64_t{1} << 20;
  return sizes.rows >= 1 && sizes.rows <= kFewRows && sizes.hidden * sizes.depth > kCachedWeight;
}

// Float32, all arrays plain. A sum is added up in the same order whatever the number of threads.
// REQUIRES 1 <= sizes.rows <= kFewRows.
void multiply_few_rows(const LayerSizes& sizes, const float* data, const float* weight,
                       const LayerPost& post, float* out);

// The same with a weight that is rounded to bfloat16: half of what is read. All else is float32.
// REQUIRES has_narrow_few_rows().
bool has_narrow_few_rows();
void multiply_few_rows(const LayerSizes& sizes, const float* data, const bfloat16* weight,
                       const LayerPost& post, float* out);

// The same with a weight of float16. REQUIRES has_half_few_rows().
bool has_half_few_rows();
void multiply_few_rows(const LayerSizes& sizes, const float* data, const float16* weight,
                       const LayerPost& post, float* out);

}  // namespace mxnet
