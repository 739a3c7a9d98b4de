// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with fixed statistics as part of the weights before it.
#pragma once
#include <optional>
#include <vector>

#include "op/fused/conv.h"
#include "op/fused/floats.h"
#include "op/products/packed_floats.h"

namespace mxnet {

// What becomes of the weights of a fused convolution: its bias, one number a filter (zeros where
// there is none), and what each filter is multiplied by.
class Folding {
 public:
  // Writes the bias.
  Folding(const FusedConvParams& params, const KernelContext& context, float* bias);
  // As given, as float32; borrows those of the context where nothing is converted.
  const float* given() const { return given_.data(); }
  // One for each filter; null where nothing is folded.
  const double* scales() const { return scales_.empty() ? nullptr : scales_.data(); }
  // The weights of filters [first, first + count), `row` each, in the order that they are given in:
  // multiplied into `to`, or where they lie if nothing is folded.
  const float* multiplied(int64_t first, int64_t count, int64_t row, float* to) const;

 private:
  const Floats given_;
  std::vector<double> scales_;
};

// The same multiplied out, in their plain layout; those given where nothing is folded.
class FoldedWeight {
 public:
  FoldedWeight(const FusedConvParams& params, const KernelContext& context, float* bias);
  const float* weight() const { return weight_; }

 private:
  const Folding folding_;
  // Straight from the kernel, to which it goes back: malloc would keep what the largest needs.
  std::optional<PackedFloats> scaled_;
  const float* weight_;
};

}  // namespace mxnet
