// SPDX-License-Identifier: Apache-2.0
// Biases of layers beside their products: a number for each channel.
#pragma once
#include "op/kernel.h"

namespace mxnet {

// Channels are dimension 1 of an array, or its last one.
// to = sums + bias, which may be in place. The sums of half types are float32, so that a result is
// rounded once.
void add_bias(const Tensor& bias, bool channels_last, const Tensor& sums, const Tensor& to);
// sums[c] = sum of channel c. Half types are added up in float, float in blocks.
void sum_channels(const Tensor& array, bool channels_last, const Tensor& sums,
                  KernelContext& context);

}  // namespace mxnet
