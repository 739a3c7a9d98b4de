// SPDX-License-Identifier: Apache-2.0
// The gradient of p-norms, d|x|/dx = (x / |x|)^(p - 1), in two factors: one belongs to the window,
// the other to the pixel.
#pragma once
#include "op/run/parallel_each.h"
#include "op/windows/pooling_geometry.h"

namespace mxnet {

// What a window gives to its pixels; nothing where its norm is 0.
template <class T>
T norm_share(T head, T norm, int power) {
  const T divisor = power == 1 ? T{1} : power == 2 ? norm : norm * norm;
  return divisor == T{0} ? T{0} : head / divisor;
}

// And what each of them makes of the sum.
template <class T>
void scale_shares(const PoolGeometry& g, const T* image, T* dimage) {
  const int power = g.power - 1;
  if (power == 0) return;
  parallel_each(g.batch * g.channels * g.image_size(), 1.0,
                [=](int64_t i) { dimage[i] *= power == 1 ? image[i] : image[i] * image[i]; });
}

}  // namespace mxnet
