// SPDX-License-Identifier: Apache-2.0
// A convolution with what follows it: batch normalisation with fixed statistics, which goes into
// weights and bias, then a sum and activations, which are applied to results before they are
// stored. Graphs for inference contain it; nobody else makes it.
#pragma once
#include <vector>

#include "op/fused/post_op.h"
#include "op/prepared_kernel.h"
#include "op/windows/conv_geometry.h"

namespace mxnet {

// Inputs: data, [other,] weight[, bias][, gamma, beta, mean, variance].
struct FusedConvParams {
  ConvParams conv{};
  bool batch_norm = false, fix_gamma = false, sum = false;
  double eps = 0;
  std::vector<PostOp> post_ops;
  // For GPUs, whose library may run a call again to take its time: the result never lies where the
  // other input does.
  bool on_gpu = false;
  // There: weights lie channels first although data, other and result do not.
  bool turns_weight = false;

  int weight_input() const { return sum ? 2 : 1; }
  int bias_input() const { return weight_input() + 1; }
  int gamma_input() const { return bias_input() + (conv.no_bias ? 0 : 1); }
  int num_inputs() const { return gamma_input() + (batch_norm ? 4 : 0); }
  const char* op_name() const { return on_gpu ? kOnGpu : sum ? kWithSum : kWithoutSum; }

  // On the CPU two operators, because only the one with a sum may write its result over an input.
  static constexpr const char* kWithoutSum = "_sg_onednn_conv";
  static constexpr const char* kWithSum = "_sg_onednn_conv_add";
  static constexpr const char* kOnGpu = "_sg_conv";
  // What a GPU's convolution reads in the place of its weights: the same in another order, and
  // multiplied by what the normalisation behind it does. A node of its own, since plans keep what
  // it makes. Inputs: weight, and with a normalisation [bias,] gamma, beta, mean, variance;
  // outputs: weight, and with a normalisation bias.
  static constexpr const char* kWeightOnGpu = "_sg_conv_weight";
  bool folds_bias() const { return batch_norm && !conv.no_bias; }
};

// Whether oneDNN computes all of this at once.
bool fused_conv_accepts(const FusedConvParams& params, const Signature& signature);
// The same of a GPU's plug-in: floating types but float64, whose normalisation has other types; at
// most a sum, then one activation that cuDNN has in the operation of a convolution.
bool fused_conv_accepts_on_gpu(const FusedConvParams& params, const Signature& signature);
PreparedKernelRef prepare_fused_conv(const OpDef& op, const void* params,
                                     const Signature& signature,
                                     std::span<const LayoutRef> layouts);

}  // namespace mxnet
