// SPDX-License-Identifier: Apache-2.0
// Pooling on plain arrays: windows are reduced line by line first, then along the lines, so that
// the work grows with the sum of the kernel's sides, not with their product.
#pragma once
#include "op/windows/pooling_geometry.h"

namespace mxnet {

// image (batch * channels, pixels), map (batch * channels, places). T is float or double.
// `lowest`: what maxima start from, and so the maximum of windows that see nothing or nothing else
// than NaN and -inf.
template <class T>
void pool_forward(const PoolGeometry& g, const T* image, T lowest, T* map);
// Gradient of averages and sums.
template <class T>
void pool_spread(const PoolGeometry& g, const T* dmap, T* dimage);
// The same of arrays (batch, pixels or places, channels), a pixel's channels at a time.
template <class T>
void pool_pixels(const PoolGeometry& g, const T* image, T lowest, T* map);
// `image` and `map` are those of norms, else null.
template <class T>
void spread_pixels(const PoolGeometry& g, const T* image, const T* map, const T* dmap, T* dimage);
// The gradient of maxima, which goes to the first of equals.
template <class T>
void pixels_to_first(const PoolGeometry& g, const T* image, const T* dmap, T* dimage);
// Gradient of maxima: to the first of equals.
template <class T>
void pool_to_first(const PoolGeometry& g, const T* image, const T* dmap, T* dimage);
// What a map gets from an image at the places of the first maxima: the adjoint of pool_to_first.
template <class T>
void pool_from_first(const PoolGeometry& g, const T* image, const T* picked, T* map);
// Gradient of the p-norm; 0 where the norm is.
template <class T>
void pool_norm_gradient(const PoolGeometry& g, const T* image, const T* map, const T* dmap,
                        T* dimage);

}  // namespace mxnet
