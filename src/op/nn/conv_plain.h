// SPDX-License-Identifier: Apache-2.0
// Convolution and its two adjoints on plain arrays: columns times matrix (BLAS), or directly where
// each channel is alone. Any size; the same bits for any number of threads.
#pragma once
#include "op/kernel.h"
#include "op/windows/conv_geometry.h"

namespace mxnet {

// image (batch, channels, pixels), weight (map channels, image channels of a group, kernel), map
// (batch, channels, places). T is float or double. `bias` has a number for each channel of what is
// written, or is null.
template <class T>
void conv_map(const ConvGeometry& g, const T* image, const T* weight, const T* bias, T* map,
              KernelContext& context);
template <class T>
void conv_image(const ConvGeometry& g, const T* map, const T* weight, const T* bias, T* image,
                KernelContext& context);
template <class T>
void conv_weight(const ConvGeometry& g, const T* image, const T* map, T* weight,
                 KernelContext& context);

}  // namespace mxnet
