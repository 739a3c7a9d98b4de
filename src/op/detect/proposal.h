// SPDX-License-Identifier: Apache-2.0
// The regions that a region proposal network thinks worth looking at: its anchors, moved and
// filtered, for the host and for kernels. Coordinates are pixels; both ends of a box belong to it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/host_device.h"
#include "op/detect/boxes.h"

namespace mxnet::detect {

struct ProposalParams {
  int32_t rpn_pre_nms_top_n, rpn_post_nms_top_n;
  float threshold;
  int32_t rpn_min_size;
  std::vector<float> scales, ratios;
  int32_t feature_stride;
  bool output_score, iou_loss;
};

template <class T>
struct ProposedRegion {
  Box<T> box;
  T score;
};

// Width and height of boxes that own their last pixel.
template <class T>
MX_HOST_DEVICE T pixels(T first, T last) {
  return last - first + 1;
}
template <class T>
MX_HOST_DEVICE T pixel_overlap(const Box<T>& a, const Box<T>& b) {
  const T w = std::max(T{0}, pixels(std::max(a.left, b.left), std::min(a.right, b.right)));
  const T h = std::max(T{0}, pixels(std::max(a.top, b.top), std::min(a.bottom, b.bottom)));
  const T area_a = pixels(a.left, a.right) * pixels(a.top, a.bottom);
  const T area_b = pixels(b.left, b.right) * pixels(b.top, b.bottom);
  return w * h / (area_a + area_b - w * h);
}

// Around the first place: a ratio, rounded to whole pixels before scaling.
template <class T>
MX_HOST_DEVICE Box<T> base_anchor(int32_t stride, float ratio, float scale) {
  const T side = static_cast<T>(stride), middle = (side - 1) / 2;
  const T area = std::floor(side * side / T(ratio));
  const T w = std::floor(std::sqrt(area) + T(0.5));
  const T h = std::floor(w * T(ratio) + T(0.5));
  const T half_w = (w * T(scale) - 1) / 2, half_h = (h * T(scale) - 1) / 2;
  return {middle - half_w, middle - half_h, middle + half_w, middle + half_h};
}

// One image of a batch. `info`: its height, width and scale.
template <class T>
struct ProposalImage {
  T image_height, image_width, least;
  int64_t height, width, stride;
  bool iou_loss;

  ProposalImage(const ProposalParams& params, const T* info, int64_t height, int64_t width)
      : ProposalImage(params.rpn_min_size, params.feature_stride, params.iou_loss, info, height,
                      width) {}
  MX_HOST_DEVICE ProposalImage(int32_t min_size, int32_t stride, bool iou_loss, const T* info,
                               int64_t height, int64_t width)
      : image_height(info[0]),
        image_width(info[1]),
        least(static_cast<T>(min_size) * info[2]),
        height(height),
        width(width),
        stride(stride),
        iou_loss(iou_loss) {}

  // What an anchor at a place of the map becomes: moved by four numbers at `d`, a map apart, and
  // clipped to the image. Outside of the real image, or too small, it scores -1.
  MX_HOST_DEVICE ProposedRegion<T> region(const Box<T>& base, int64_t place, const T* d,
                                          T score) const {
    const int64_t i = place / width, j = place % width;
    const T x = static_cast<T>(j * stride), y = static_cast<T>(i * stride);
    ProposedRegion<T> region{
        moved({base.left + x, base.top + y, base.right + x, base.bottom + y}, d), score};
    Box<T>& box = region.box;
    box.left = std::max(T{0}, std::min(box.left, image_width - 1));
    box.top = std::max(T{0}, std::min(box.top, image_height - 1));
    box.right = std::max(T{0}, std::min(box.right, image_width - 1));
    box.bottom = std::max(T{0}, std::min(box.bottom, image_height - 1));
    const auto real_height = static_cast<int64_t>(image_height / static_cast<T>(stride));
    const auto real_width = static_cast<int64_t>(image_width / static_cast<T>(stride));
    if (i >= real_height || j >= real_width) region.score = T{-1};
    if (pixels(box.left, box.right) < least || pixels(box.top, box.bottom) < least) {
      box = {box.left - least / 2, box.top - least / 2, box.right + least / 2,
             box.bottom + least / 2};
      region.score = T{-1};
    }
    return region;
  }

 private:
  MX_HOST_DEVICE Box<T> moved(const Box<T>& anchor, const T* d) const {
    const int64_t step = height * width;
    if (iou_loss) {
      return {anchor.left + d[0], anchor.top + d[step], anchor.right + d[2 * step],
              anchor.bottom + d[3 * step]};
    }
    const T w = pixels(anchor.left, anchor.right), h = pixels(anchor.top, anchor.bottom);
    const T x = d[0] * w + anchor.left + (w - 1) / 2, y = d[step] * h + anchor.top + (h - 1) / 2;
    const T half_w = (std::exp(d[2 * step]) * w - 1) / 2;
    const T half_h = (std::exp(d[3 * step]) * h - 1) / 2;
    return {x - half_w, y - half_h, x + half_w, y + half_h};
  }
};

}  // namespace mxnet::detect
