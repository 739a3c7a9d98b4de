// SPDX-License-Identifier: Apache-2.0
// Maxima and averages on oneDNN, and the gradient of averages.
#pragma once
#include "op/kernel.h"
#include "op/nn/pooling_geometry.h"

namespace mxnet {

bool pool_forward_onednn_accepts(const PoolParams& params, const Signature& signature);
void pool_forward_onednn(const PoolParams& params, KernelContext& context);
bool pool_spread_onednn_accepts(const PoolParams& params, const Signature& signature);
void pool_spread_onednn(const PoolParams& params, KernelContext& context);

}  // namespace mxnet
