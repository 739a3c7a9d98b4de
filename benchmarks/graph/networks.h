// SPDX-License-Identifier: Apache-2.0
// Well-known networks as graphs, for what is measured without weights: planned bytes.
#pragma once

#include "graph/symbol.h"

namespace mxnet {

// Each takes "data" (N, 3, 224, 224) and gives 1000 numbers an image.
inline Shape images(int count) { return {count, 3, 224, 224}; }
Symbol resnet50_v1();
Symbol vgg16();

// What a plan for `network` needs beside the arrays of its caller.
struct PlannedBytes {
  std::size_t arena = 0;     // activations
  std::size_t unshared = 0;  // had each value memory of its own
};
enum class Pass : bool { kInference, kTraining };

// Planned as the configuration says: no array is made and nothing runs. In training with the
// gradients of all arguments but the data.
PlannedBytes planned_bytes(const Symbol& network, const Shape& data, Pass pass);

}  // namespace mxnet
