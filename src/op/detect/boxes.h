// SPDX-License-Identifier: Apache-2.0
// Boxes, and what they have in common.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/host_device.h"

namespace mxnet::detect {

enum class BoxFormat : int32_t { kCorner, kCenter };

template <class T>
struct Box {
  T left, top, right, bottom;

  MX_HOST_DEVICE T width() const { return right - left; }
  MX_HOST_DEVICE T height() const { return bottom - top; }
  MX_HOST_DEVICE T center_x() const { return (left + right) / 2; }
  MX_HOST_DEVICE T center_y() const { return (top + bottom) / 2; }
  MX_HOST_DEVICE T area() const {
    const T w = width(), h = height();
    return w < 0 || h < 0 ? T{0} : w * h;
  }
};

// Four numbers: corners, or centre, width and height.
template <class T>
MX_HOST_DEVICE Box<T> read_box(const T* p, BoxFormat format = BoxFormat::kCorner) {
  if (format == BoxFormat::kCorner) return {p[0], p[1], p[2], p[3]};
  return {p[0] - p[2] / 2, p[1] - p[3] / 2, p[0] + p[2] / 2, p[1] + p[3] / 2};
}
template <class T>
MX_HOST_DEVICE void write_box(const Box<T>& box, BoxFormat format, T* p) {
  if (format == BoxFormat::kCorner) {
    p[0] = box.left;
    p[1] = box.top;
    p[2] = box.right;
    p[3] = box.bottom;
  } else {
    p[0] = box.center_x();
    p[1] = box.center_y();
    p[2] = box.width();
    p[3] = box.height();
  }
}

template <class T>
MX_HOST_DEVICE T intersection(const Box<T>& a, const Box<T>& b) {
  const T w = std::min(a.right, b.right) - std::max(a.left, b.left);
  const T h = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return w < 0 || h < 0 ? T{0} : w * h;
}
// Intersection over union, 0 where there is nothing to divide by.
template <class T>
MX_HOST_DEVICE T iou(const Box<T>& a, const Box<T>& b) {
  const T common = intersection(a, b), all = a.area() + b.area() - common;
  return all <= 0 ? T{0} : common / all;
}

struct BoxIouParams {
  BoxFormat format;
};

}  // namespace mxnet::detect
