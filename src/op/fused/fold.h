// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with fixed statistics as part of the weights before it.
#pragma once
#include <optional>

#include "op/fused/conv.h"
#include "op/fused/floats.h"
#include "op/products/packed_floats.h"

namespace mxnet {

// Weights of a fused convolution as float32 in their plain layout; borrows those of the context
// where nothing is folded or converted.
class FoldedWeight {
 public:
  // Writes the bias, one number a filter: zeros where there is none.
  FoldedWeight(const FusedConvParams& params, const KernelContext& context, float* bias);
  const float* weight() const { return weight_; }

 private:
  const Floats given_;
  // Straight from the kernel, to which it goes back: malloc would keep what the largest needs.
  std::optional<PackedFloats> scaled_;
  const float* weight_;
};

}  // namespace mxnet
