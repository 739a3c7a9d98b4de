// SPDX-License-Identifier: Apache-2.0
// Where the samples of ROIAlign lie, for the CPU and for kernels: frames of upright and of turned
// regions, and the grid of samples in their bins.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "base/shape.h"
#include "op/detect/roi_samples.h"

namespace mxnet::detect {

struct RoiAlignParams {
  Shape pooled_size;
  float spatial_scale;
  int32_t sample_ratio;
  bool position_sensitive, aligned;

  int64_t bins() const { return pooled_size.size(); }
  PoolShape pool_shape(const Shape& data) const {
    return {data[1], data[2], data[3], bins(), position_sensitive};
  }
};

// A place of a plane.
template <class T>
struct PlanePlace {
  T y, x;
};

// A region by its corners.
template <class T>
struct UprightFrame {
  static constexpr const char* kOp = "_contrib_ROIAlign";
  static constexpr int kNumbers = 5;
  T top, left, h, w;

  MX_HOST_DEVICE UprightFrame(const T* roi, T scale, bool aligned) {
    const T shift = aligned ? T(0.5) : T(0);
    left = roi[1] * scale - shift;
    top = roi[2] * scale - shift;
    w = roi[3] * scale - shift - left;
    h = roi[4] * scale - shift - top;
    if (aligned) return;
    w = std::max(w, T{1});
    h = std::max(h, T{1});
  }
  // Of offsets from the corner.
  MX_HOST_DEVICE PlanePlace<T> place(T y, T x) const { return {top + y, left + x}; }
};

// A region by its centre, width, height and angle in degrees.
template <class T>
struct TurnedFrame {
  static constexpr const char* kOp = "_contrib_RROIAlign";
  static constexpr int kNumbers = 6;
  T y0, x0, h, w, cos, sin;

  MX_HOST_DEVICE TurnedFrame(const T* roi, T scale, bool) {
    constexpr double kRadians = 3.14159265358979323846 / 180;
    x0 = roi[1] * scale;
    y0 = roi[2] * scale;
    w = std::max(roi[3] * scale, T{1});
    h = std::max(roi[4] * scale, T{1});
    const T angle = roi[5] * T(kRadians);
    cos = std::cos(angle);
    sin = std::sin(angle);
  }
  MX_HOST_DEVICE PlanePlace<T> place(T y, T x) const {
    const T v = y - h / 2, u = x - w / 2;
    return {v * cos - u * sin + y0, u * cos + v * sin + x0};
  }
};

// Of one region; nobody waits for what takes more.
inline constexpr double kMostSamples = 1 << 26;

// Samples evenly spread over the bins of a frame: `tall` by `wide` in each.
template <class T>
struct BinGrid {
  T bin_h, bin_w;
  int64_t tall, wide;

  // `wanted` along each axis; as many as a bin has places if not positive.
  MX_HOST_DEVICE BinGrid(T h, T w, int64_t rows, int64_t columns, int32_t wanted)
      : bin_h(h / static_cast<T>(rows)),
        bin_w(w / static_cast<T>(columns)),
        tall(along(wanted, bin_h)),
        wide(along(wanted, bin_w)) {}
  // Of all bins; as a real number, which holds any of them.
  MX_HOST_DEVICE double samples(int64_t bins) const {
    return static_cast<double>(tall) * static_cast<double>(wide) * static_cast<double>(bins);
  }
  // Of the sum of a bin.
  MX_HOST_DEVICE T scale() const {
    return T{1} / static_cast<T>(std::max<int64_t>(tall * wide, 1));
  }
  // Where sample (i, j) of bin (r, c) lies.
  template <class Frame>
  MX_HOST_DEVICE PlanePlace<T> place(const Frame& frame, int64_t r, int64_t c, int64_t i,
                                     int64_t j) const {
    return frame.place(offset(r, bin_h, i, tall), offset(c, bin_w, j, wide));
  }

 private:
  MX_HOST_DEVICE static int64_t along(int32_t wanted, T bin) {
    if (wanted > 0) return wanted;
    // Regions of infinite size have a number of samples too.
    return bin > 0 ? static_cast<int64_t>(std::ceil(std::min(bin, T(1 << 30)))) : 0;
  }
  MX_HOST_DEVICE static T offset(int64_t bin, T size, int64_t i, int64_t count) {
    return (static_cast<T>(bin) + (static_cast<T>(i) + T(0.5)) / static_cast<T>(count)) * size;
  }
};

}  // namespace mxnet::detect
