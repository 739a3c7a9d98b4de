// SPDX-License-Identifier: Apache-2.0
// Convolution, Deconvolution (kTransposed) and their gradients on oneDNN.
#pragma once
#include "op/kernel.h"
#include "op/windows/conv_geometry.h"

namespace mxnet {

template <bool kTransposed>
bool conv_forward_onednn_accepts(const ConvParams& params, const Signature& signature);
template <bool kTransposed>
void conv_forward_onednn(const ConvParams& params, KernelContext& context);

template <bool kTransposed>
bool conv_backward_onednn_accepts(const ConvParams& params, const Signature& signature);
template <bool kTransposed>
void conv_backward_onednn(const ConvParams& params, KernelContext& context);

}  // namespace mxnet
