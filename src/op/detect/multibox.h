// SPDX-License-Identifier: Apache-2.0
// Offsets of boxes from anchors as the single-shot detectors learn them.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include "op/detect/boxes.h"

namespace mxnet::detect {

template <class T>
MX_HOST_DEVICE void encode_offsets(const Box<T>& anchor, const Box<T>& truth,
                                   const float* variances, T* to) {
  to[0] = (truth.center_x() - anchor.center_x()) / anchor.width() / T(variances[0]);
  to[1] = (truth.center_y() - anchor.center_y()) / anchor.height() / T(variances[1]);
  to[2] = std::log(truth.width() / anchor.width()) / T(variances[2]);
  to[3] = std::log(truth.height() / anchor.height()) / T(variances[3]);
}

template <class T>
MX_HOST_DEVICE Box<T> decode_offsets(const Box<T>& anchor, const T* offsets, const float* variances,
                                     bool clip) {
  const T x = offsets[0] * T(variances[0]) * anchor.width() + anchor.center_x();
  const T y = offsets[1] * T(variances[1]) * anchor.height() + anchor.center_y();
  const T w = std::exp(offsets[2] * T(variances[2])) * anchor.width() / 2;
  const T h = std::exp(offsets[3] * T(variances[3])) * anchor.height() / 2;
  Box<T> box{x - w, y - h, x + w, y + h};
  if (clip) {
    box.left = std::clamp(box.left, T{0}, T{1});
    box.top = std::clamp(box.top, T{0}, T{1});
    box.right = std::clamp(box.right, T{0}, T{1});
    box.bottom = std::clamp(box.bottom, T{0}, T{1});
  }
  return box;
}

struct DetectionParams {
  bool clip;
  float threshold;
  int32_t background_id;
  float nms_threshold;
  bool force_suppress;
  std::vector<float> variances;
  int32_t nms_topk;

  bool suppresses() const { return nms_threshold > 0 && nms_threshold <= 1; }
};
// Numbers of a detected box: class, score, corners.
inline constexpr int64_t kDetectionRow = 6;

// The likeliest class of an anchor, and its score; `scores` of classes are `step` apart.
template <class T>
struct BestClass {
  T score;
  int64_t index;  // -1 where there is none

  MX_HOST_DEVICE BestClass(const T* scores, int64_t classes, int64_t step, int64_t background)
      : score(-1), index(-1) {
    for (int64_t c = 0; c < classes; ++c) {
      if (c == background || !(scores[c * step] > score)) continue;
      score = scores[c * step];
      index = c;
    }
  }
  // Numbered without the background.
  MX_HOST_DEVICE T number(int64_t background) const {
    return static_cast<T>(background >= 0 && index > background ? index - 1 : index);
  }
};

struct PriorParams {
  std::vector<float> sizes, ratios;
  bool clip;
  std::vector<float> steps, offsets;
};

// Halves of width and height: all sizes with the first ratio, then the first size with the others.
// In the release's order of operations: anchors that overlap a box equally are told apart by the
// last bit.
template <class T>
std::vector<std::pair<T, T>> half_extents(const PriorParams& params, T height, T width) {
  std::vector<std::pair<T, T>> extents;
  const auto add = [&](float size, float ratio) {
    const T root = std::sqrt(static_cast<T>(ratio));
    extents.emplace_back(T(size) * height / width * root / 2, T(size) / root / 2);
  };
  for (const float size : params.sizes) add(size, params.ratios[0]);
  for (std::size_t i = 1; i < params.ratios.size(); ++i) add(params.sizes[0], params.ratios[i]);
  return extents;
}

// Centres of anchors along one axis: y is 0, x is 1.
template <class T>
struct AnchorPlaces {
  T offset, step;
  AnchorPlaces(const PriorParams& params, std::size_t axis, int64_t size)
      : offset(params.offsets[axis]),
        step(params.steps[0] > 0 && params.steps[1] > 0 ? T(params.steps[axis])
                                                        : T{1} / static_cast<T>(size)) {}
  MX_HOST_DEVICE T operator()(int64_t i) const { return (static_cast<T>(i) + offset) * step; }
};

// The corners of an anchor, of which w and h are halves of the size.
template <class T>
MX_HOST_DEVICE void write_anchor(T x, T y, T w, T h, bool clip, T* to) {
  write_box<T>({x - w, y - h, x + w, y + h}, BoxFormat::kCorner, to);
  if (!clip) return;
  for (int k = 0; k < 4; ++k) to[k] = std::clamp(to[k], T{0}, T{1});
}

}  // namespace mxnet::detect
