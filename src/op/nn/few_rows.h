// SPDX-License-Identifier: Apache-2.0
// Fully connected layers of a few rows. Each factor of the weight is used so seldom that reading it
// is what takes the time: it is read once, where it lies.
#pragma once
#include "op/nn/fully_connected.h"
#include "op/nn/layer_post.h"

namespace mxnet {

// With more the registers do not hold the sums of enough lines of the weight.
inline constexpr int64_t kFewRows = 4;

// Float32, all arrays plain. A sum is added up in the same order whatever the number of threads.
// REQUIRES 1 <= sizes.rows <= kFewRows.
void multiply_few_rows(const DenseSizes& sizes, const float* data, const float* weight,
                       const LayerPost& post, float* out);

}  // namespace mxnet
