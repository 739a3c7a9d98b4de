// SPDX-License-Identifier: Apache-2.0
// Maxima and averages on oneDNN, and their gradients.
#pragma once
#include "op/kernel.h"
#include "op/prepared_kernel.h"
#include "op/windows/pooling_geometry.h"

namespace mxnet {

bool pool_forward_onednn_accepts(const PoolParams& params, const Signature& signature);
void pool_forward_onednn(const PoolParams& params, KernelContext& context);
// For images in a layout of oneDNN's.
PreparedKernelRef prepare_pooling(const OpDef& op, const void* params, const Signature& signature,
                                  std::span<const LayoutRef> layouts);
bool pool_spread_onednn_accepts(const PoolParams& params, const Signature& signature);
void pool_spread_onednn(const PoolParams& params, KernelContext& context);
PreparedKernelRef prepare_pool_spread(const OpDef& op, const void* params,
                                      const Signature& signature,
                                      std::span<const LayoutRef> layouts);
// For images in channel blocks.
PreparedKernelRef prepare_max_pool_gradient(const OpDef& op, const void* params,
                                            const Signature& signature,
                                            std::span<const LayoutRef> layouts);

}  // namespace mxnet
