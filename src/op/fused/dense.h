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
  bool on_gpu = false;  // for the plug-in's kernel
  std::vector<PostOp> post_ops;

  int weight_input() const { return sum ? 2 : 1; }
  int num_inputs() const { return weight_input() + (dense.no_bias ? 1 : 2); }
  const char* op_name() const { return on_gpu ? kOnGpu : sum ? kWithSum : kWithoutSum; }

  // On the CPU two operators, because only the one with a sum may write its result over an input.
  static constexpr const char* kWithoutSum = "_sg_onednn_dense";
  static constexpr const char* kWithSum = "_sg_onednn_dense_add";
  static constexpr const char* kOnGpu = "_sg_dense";
};

// Whether a kernel computes all of this at once, faster than the kernels for one layer.
bool fused_dense_accepts(const FusedDenseParams& params, const Signature& signature);
// The same of a GPU's plug-in: types that cuBLASLt has epilogues for, and one relu.
bool fused_dense_accepts_on_gpu(const FusedDenseParams& params, const Signature& signature);
PreparedKernelRef prepare_fused_dense(const OpDef& op, const void* params,
                                      const Signature& signature,
                                      std::span<const LayoutRef> layouts);

}  // namespace mxnet
