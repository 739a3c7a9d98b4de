// SPDX-License-Identifier: Apache-2.0
// Offsets of boxes from anchors as the single-shot detectors learn them.
#pragma once
#include <cmath>
#include <vector>

#include "op/detect/boxes.h"
#include "op/infer.h"

namespace mxnet::detect {

template <class T>
void encode_offsets(const Box<T>& anchor, const Box<T>& truth, const std::vector<float>& variances,
                    T* to) {
  to[0] = (truth.center_x() - anchor.center_x()) / anchor.width() / T(variances[0]);
  to[1] = (truth.center_y() - anchor.center_y()) / anchor.height() / T(variances[1]);
  to[2] = std::log(truth.width() / anchor.width()) / T(variances[2]);
  to[3] = std::log(truth.height() / anchor.height()) / T(variances[3]);
}

template <class T>
Box<T> decode_offsets(const Box<T>& anchor, const T* offsets, const std::vector<float>& variances,
                      bool clip) {
  const T x = offsets[0] * T(variances[0]) * anchor.width() + anchor.center_x();
  const T y = offsets[1] * T(variances[1]) * anchor.height() + anchor.center_y();
  const T w = std::exp(offsets[2] * T(variances[2])) * anchor.width() / 2;
  const T h = std::exp(offsets[3] * T(variances[3])) * anchor.height() / 2;
  Box<T> box{x - w, y - h, x + w, y + h};
  if (clip) {
    for (T* side : {&box.left, &box.top, &box.right, &box.bottom})
      *side = std::clamp(*side, T{0}, T{1});
  }
  return box;
}

inline void check_variances(const std::vector<float>& variances, Infer& infer) {
  if (variances.size() != 4)
    infer.fail("given variances of " + std::to_string(variances.size()) + " numbers, expected 4");
}

}  // namespace mxnet::detect
