// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with fixed statistics as part of the weights before it.
#pragma once
#include <bit>
#include <cstdint>
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

  // What of the parameters the results depend on.
  static std::vector<int64_t> words_of(const FusedConvParams& params) {
    return {params.conv.num_filter, params.conv.no_bias ? 1 : 0, params.batch_norm ? 1 : 0,
            params.fix_gamma ? 1 : 0, std::bit_cast<int64_t>(params.eps)};
  }

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
