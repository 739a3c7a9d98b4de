// SPDX-License-Identifier: Apache-2.0
// Random masks: factors for each element, of Dropout and of the random slopes of LeakyReLU. Drawn
// from the streams in the portions that seeded programs rely on.
#pragma once
#include "base/device.h"
#include "op/kernel.h"

namespace mxnet {

// Each element of `mask` is 1 / keep with probability `keep`, else 0.
void fill_keep_mask(Device device, float keep, const Tensor& mask);
// The same, and out = in * mask while it is in cache. Mask and data have one shape.
void fill_keep_mask(Device device, float keep, const Tensor& mask, const Tensor& in,
                    const Tensor& out);
// Uniform in [low, high).
void fill_uniform_mask(Device device, float low, float high, const Tensor& mask);
void fill_mask(const Tensor& mask, float value);

// out = in * mask, of one shape.
void multiply_by_mask(const Tensor& in, const Tensor& mask, const Tensor& out);
// out = in where sign is above zero, else in * mask.
void select_by_sign(const Tensor& sign, const Tensor& in, const Tensor& mask, const Tensor& out);

}  // namespace mxnet
