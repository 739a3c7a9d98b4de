// SPDX-License-Identifier: Apache-2.0
// Parameters of FullyConnected, its sizes, and its kernels on oneDNN.
#pragma once
#include "op/kernel.h"
#include "op/products/few_rows.h"

namespace mxnet {

struct FullyConnectedParams {
  int32_t num_hidden;
  bool no_bias, flatten;
  int32_t wanted;  // of the gradient: see trilinear_grad.h
};

struct DenseSizes : LayerSizes {
  DenseSizes(const FullyConnectedParams& params, const Shape& data, const Shape& weight)
      : LayerSizes{params.flatten ? data[0] : data.size(0, data.ndim() - 1), weight[0], weight[1]} {
  }
};

bool fully_connected_onednn_accepts(const FullyConnectedParams& params, const Signature& signature);
void fully_connected_onednn(const FullyConnectedParams& params, KernelContext& context);
bool fully_connected_backward_onednn_accepts(const FullyConnectedParams& params,
                                             const Signature& signature);
void fully_connected_backward_onednn(const FullyConnectedParams& params, KernelContext& context);

}  // namespace mxnet
