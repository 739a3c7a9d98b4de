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

// Whether one thread has made a layer before a second one has come in, which oneDNN starts for what
// is not (docs/onednn.md, "Small steps"). A weight of a cache's size is read faster by several,
// however few the rows are.
inline bool is_for_one_thread(const LayerSizes& sizes) {
  constexpr int64_t kFew = int64_t{1} << 18, kSmallWeight = int64_t{1} << 16;
  const int64_t weight = sizes.hidden * sizes.depth;
  return sizes.rows * weight <= kFew && weight <= kSmallWeight;
}

bool fully_connected_onednn_accepts(const FullyConnectedParams& params, const Signature& signature);
void fully_connected_onednn(const FullyConnectedParams& params, KernelContext& context);
bool fully_connected_backward_onednn_accepts(const FullyConnectedParams& params,
                                             const Signature& signature);
void fully_connected_backward_onednn(const FullyConnectedParams& params, KernelContext& context);

}  // namespace mxnet
