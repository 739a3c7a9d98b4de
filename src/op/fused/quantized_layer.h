// SPDX-License-Identifier: Apache-2.0
// A convolution or fully connected layer of bytes with what follows it: batch normalisation with
// fixed statistics, a sum with another branch, activations, and the way back to bytes.
#pragma once
#include <optional>
#include <vector>

#include "op/fused/post_op.h"
#include "op/nn/fully_connected.h"
#include "op/prepared_kernel.h"
#include "op/windows/conv_geometry.h"

namespace mxnet {

// Inputs: data, weight[, bias][, gamma, beta, mean, variance][, other], then the least and the
// greatest real number of each of these that is in bytes: data, perhaps weight and bias, other.
struct QuantizedLayer {
  bool is_convolution = false;
  ConvParams conv{};             // of a convolution
  FullyConnectedParams dense{};  // of the other kind
  bool batch_norm = false, fix_gamma = false;
  double eps = 0;
  std::vector<PostOp> post_ops;
  bool sum = false;              // post_ops adds the other branch somewhere
  bool weight_in_bytes = false;  // and so the bias; otherwise each channel has a range of its own
  // The result: real, bytes for this range, or int32 for the next operator to bring to bytes.
  bool float_result = false;
  std::optional<float> min, max;

  bool no_bias() const { return is_convolution ? conv.no_bias : dense.no_bias; }
  int64_t channels() const { return is_convolution ? conv.num_filter : dense.num_hidden; }
  // Without the ends of ranges.
  int num_arrays() const { return 2 + (no_bias() ? 0 : 1) + (batch_norm ? 4 : 0) + (sum ? 1 : 0); }
  int num_in_bytes() const { return 1 + (weight_in_bytes ? no_bias() ? 1 : 2 : 0) + (sum ? 1 : 0); }
  int num_inputs() const { return num_arrays() + 2 * num_in_bytes(); }
  bool calibrated() const { return min.has_value() && max.has_value(); }
  // Results that cannot be negative have all of uint8.
  DType result_type() const;

  static constexpr const char* kOp = "_sg_onednn_quantized_layer";
};

void run_quantized_layer(const QuantizedLayer& layer, KernelContext& context);
// The same by one primitive of oneDNN; null where it has none that is exact. Results may differ by
// one step from those of run_quantized_layer(), where the number before rounding does in its last
// bit.
PreparedKernelRef prepare_quantized_layer(const QuantizedLayer& layer, const Signature& signature);

}  // namespace mxnet
