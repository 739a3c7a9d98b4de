// SPDX-License-Identifier: Apache-2.0
// Where the bins of position-sensitive pooling lie, for the host and for kernels. Each bin of a
// region has channels of its own.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/host_device.h"

namespace mxnet::detect {

struct PsRoiParams {
  float spatial_scale;
  int32_t output_dim, pooled_size, group_size;

  MX_HOST_DEVICE int64_t groups() const { return group_size > 0 ? group_size : pooled_size; }
};

// The images that regions lie in.
struct Planes {
  int64_t images, channels, height, width;

  MX_HOST_DEVICE int64_t area() const { return height * width; }
  template <class T>
  MX_HOST_DEVICE bool has(T image) const {
    return image >= 0 && image < static_cast<T>(images);
  }
};

// The pixels that a bin covers; half open.
struct BinPixels {
  int64_t plane;  // where its channel begins
  int64_t top, bottom, left, right;

  MX_HOST_DEVICE int64_t count() const {
    return std::max<int64_t>(0, bottom - top) * std::max<int64_t>(0, right - left);
  }
};

// Bin (i, j) of channel c of a region: image, then corners, which are rounded half away from zero.
// REQUIRES: planes.has(roi[0]).
template <class T>
MX_HOST_DEVICE BinPixels bin_pixels(const PsRoiParams& params, const Planes& planes, const T* roi,
                                    int64_t c, int64_t i, int64_t j) {
  const T scale = static_cast<T>(params.spatial_scale);
  const int64_t side = params.pooled_size, groups = params.groups();
  const T left = std::round(roi[1]) * scale, top = std::round(roi[2]) * scale;
  const T bin_w = std::max((std::round(roi[3]) + 1) * scale - left, T(0.1)) / static_cast<T>(side);
  const T bin_h = std::max((std::round(roi[4]) + 1) * scale - top, T(0.1)) / static_cast<T>(side);
  const auto bound = [](T at, int64_t size) {
    return static_cast<int64_t>(std::clamp(at, T{0}, static_cast<T>(size)));
  };
  const int64_t group_row = std::min(i * groups / side, groups - 1);
  const int64_t group_column = std::min(j * groups / side, groups - 1);
  const int64_t channel = (c * groups + group_row) * groups + group_column;
  return {(static_cast<int64_t>(roi[0]) * planes.channels + channel) * planes.area(),
          bound(std::floor(static_cast<T>(i) * bin_h + top), planes.height),
          bound(std::ceil(static_cast<T>(i + 1) * bin_h + top), planes.height),
          bound(std::floor(static_cast<T>(j) * bin_w + left), planes.width),
          bound(std::ceil(static_cast<T>(j + 1) * bin_w + left), planes.width)};
}

struct DeformablePsRoiParams {
  float spatial_scale;
  int32_t output_dim, group_size, pooled_size, part_size, sample_per_part;
  float trans_std;
  bool no_trans;

  MX_HOST_DEVICE int64_t parts() const { return part_size > 0 ? part_size : pooled_size; }
  int num_inputs() const { return no_trans ? 2 : 3; }
};

// A sample inside a plane: its four neighbours, and how the value changes with its place.
template <class T>
struct Neighbours {
  int64_t at[4];
  T weight[4], slope_y[4], slope_x[4];

  MX_HOST_DEVICE Neighbours(T y, T x, int64_t width) {
    const T y0 = std::floor(y), x0 = std::floor(x), y1 = std::ceil(y), x1 = std::ceil(x);
    const T fy = y - y0, fx = x - x0;
    const T rows[] = {y0, y0, y1, y1}, columns[] = {x0, x1, x0, x1};
    const T wy[] = {1 - fy, 1 - fy, fy, fy}, wx[] = {1 - fx, fx, 1 - fx, fx};
    for (int k = 0; k < 4; ++k) {
      at[k] = static_cast<int64_t>(rows[k]) * width + static_cast<int64_t>(columns[k]);
      weight[k] = wy[k] * wx[k];
      slope_y[k] = k < 2 ? -wx[k] : wx[k];
      slope_x[k] = k % 2 == 0 ? -wy[k] : wy[k];
    }
  }
  MX_HOST_DEVICE static T sum(const T* plane, const int64_t* at, const T* factors) {
    T result{0};
    for (int k = 0; k < 4; ++k) result += factors[k] * plane[at[k]];
    return result;
  }
};

// The bins of regions that learnt offsets (`trans`, null without) move.
template <class T>
struct DeformedBins {
  DeformablePsRoiParams params;
  Planes planes;
  const T *rois, *trans;
  int64_t classes;  // that have offsets of their own

  struct Bin {
    int64_t plane;    // where its channel begins
    int64_t shift_x;  // index in trans; y is parts^2 further; -1 without
    T roi_width, roi_height;
    T top, left, step_h, step_w;  // the first sample, and the way to the next
  };

  // Bin (i, j) of channel c of region n. REQUIRES: planes.has(rois[n * 5]).
  MX_HOST_DEVICE Bin bin(int64_t n, int64_t c, int64_t i, int64_t j) const {
    const T* roi = rois + n * 5;
    const T scale = static_cast<T>(params.spatial_scale), half = T(0.5);
    const int64_t side = params.pooled_size, parts = params.parts(), groups = params.group_size;
    const T left = std::round(roi[1]) * scale - half, top = std::round(roi[2]) * scale - half;
    Bin bin;
    bin.roi_width = std::max((std::round(roi[3]) + 1) * scale - half - left, T(0.1));
    bin.roi_height = std::max((std::round(roi[4]) + 1) * scale - half - top, T(0.1));
    const T bin_w = bin.roi_width / static_cast<T>(side);
    const T bin_h = bin.roi_height / static_cast<T>(side);
    bin.step_w = bin_w / static_cast<T>(params.sample_per_part);
    bin.step_h = bin_h / static_cast<T>(params.sample_per_part);
    const int64_t per_class = std::max<int64_t>(1, params.output_dim / classes);
    const T std = static_cast<T>(params.trans_std);
    bin.shift_x = trans == nullptr
                      ? -1
                      : (((n * classes + c / per_class) * 2) * parts + i * parts / side) * parts +
                            j * parts / side;
    const T dx = trans == nullptr ? T{0} : trans[bin.shift_x] * std;
    const T dy = trans == nullptr ? T{0} : trans[bin.shift_x + parts * parts] * std;
    bin.left = static_cast<T>(j) * bin_w + left + dx * bin.roi_width;
    bin.top = static_cast<T>(i) * bin_h + top + dy * bin.roi_height;
    const int64_t group_row = std::min<int64_t>(i * groups / side, groups - 1);
    const int64_t group_column = std::min<int64_t>(j * groups / side, groups - 1);
    const int64_t channel = (c * groups + group_row) * groups + group_column;
    bin.plane = (static_cast<int64_t>(roi[0]) * planes.channels + channel) * planes.area();
    return bin;
  }

  // fn(Neighbours) for the bin's samples inside the image; returns how many there are.
  template <class F>
  MX_HOST_DEVICE int64_t each_sample(const Bin& bin, const F& fn) const {
    const T half = T(0.5);
    const T height = static_cast<T>(planes.height), width = static_cast<T>(planes.width);
    int64_t count = 0;
    for (int s = 0; s < params.sample_per_part; ++s) {
      for (int t = 0; t < params.sample_per_part; ++t) {
        const T y = bin.top + static_cast<T>(s) * bin.step_h;
        const T x = bin.left + static_cast<T>(t) * bin.step_w;
        if (!(x >= -half && x <= width - half && y >= -half && y <= height - half)) continue;
        fn(Neighbours<T>(std::clamp(y, T{0}, height - 1), std::clamp(x, T{0}, width - 1),
                         planes.width));
        ++count;
      }
    }
    return count;
  }
  MX_HOST_DEVICE int64_t count_samples(const Bin& bin) const {
    return each_sample(bin, [](const Neighbours<T>&) {});
  }
};

}  // namespace mxnet::detect
