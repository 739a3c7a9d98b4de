// SPDX-License-Identifier: Apache-2.0
// Boxes as offsets from anchors and back, for the CPU and for kernels.
#pragma once
#include <cmath>

#include "op/detect/boxes.h"

namespace mxnet::detect {

struct BoxDecodeParams {
  float std0, std1, std2, std3;
  float clip;
  BoxFormat format;
};

template <class T>
MX_HOST_DEVICE Box<T> decode_box(const BoxDecodeParams& params, const Box<T>& anchor,
                                 const T* offset) {
  const T clip = static_cast<T>(params.clip);
  const T x = offset[0] * T(params.std0) * anchor.width() + anchor.center_x();
  const T y = offset[1] * T(params.std1) * anchor.height() + anchor.center_y();
  T w = offset[2] * T(params.std2), h = offset[3] * T(params.std3);
  if (clip > 0) {
    w = std::min(w, clip);
    h = std::min(h, clip);
  }
  w = std::exp(w) * anchor.width() / 2;
  h = std::exp(h) * anchor.height() / 2;
  return {x - w, y - h, x + w, y + h};
}

// Four offsets, less the means, by the standard deviations.
template <class T>
MX_HOST_DEVICE void encode_box(const Box<T>& anchor, const Box<T>& box, const T* means,
                               const T* stds, T* to) {
  const T offsets[] = {(box.center_x() - anchor.center_x()) / anchor.width(),
                       (box.center_y() - anchor.center_y()) / anchor.height(),
                       std::log(box.width() / anchor.width()),
                       std::log(box.height() / anchor.height())};
  for (int j = 0; j < 4; ++j) to[j] = (offsets[j] - means[j]) / stds[j];
}

}  // namespace mxnet::detect
