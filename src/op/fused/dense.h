// SPDX-License-Identifier: Apache-2.0
// A fully connected layer with the sum and the activations that follow it, in one kernel.
// Graphs for inference contain it; nobody else makes it.
#pragma once
#include <vector>

#include "op/fused/post_op.h"
#include "op/nn/fully_connected.h"
#include "op/prepared_kernel.h"

namespace mxnet {

// Inputs: data, [other,] weight[, bias].
struct FusedDenseParams {
  FullyConnectedParams dense{};
  bool sum = false;
  std::vector<PostOp> post_ops;

  int weight_input() const { return sum ? 2 : 1; }
  int num_inputs() const { return weight_input() + (dense.no_bias ? 1 : 2); }
  const char* op_name() const { return sum ? kWithSum : kWithoutSum; }

  // Two operators, because only the one with a sum may write its result over an input.
  static constexpr const char* kWithoutSum = "_sg_onednn_dense";
  static constexpr const char* kWithSum = "_sg_onednn_dense_add";
};

// Whether a kernel computes all of this at once, faster than the kernels for one layer.
bool fused_dense_accepts(const FusedDenseParams& params, const Signature& signature);
PreparedKernelRef prepare_fused_dense(const OpDef& op, const void* params,
                                      const Signature& signature,
                                      std::span<const LayoutRef> layouts);

}  // namespace mxnet
