// SPDX-License-Identifier: Apache-2.0
// Bilinear sampling of a plane, with its gradients: by the plane, and by where the sample lies.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/host_device.h"

namespace mxnet {

// What lies outside. kZeros: zeros, and samples fade out within a pixel. kEdge: the last pixels go
// on for less than a pixel, samples beyond are zero.
enum class Outside { kZeros, kEdge };

template <class T>
struct BilinearSample {
  int64_t at[4] = {-1, -1, -1, -1};  // -1: outside
  T weight[4], slope_y[4], slope_x[4];
  T beside{0};  // added to what is read

  // At (y, x) of a plane; far outside, and for NaN, all of it is outside.
  MX_HOST_DEVICE BilinearSample(T y, T x, int64_t height, int64_t width,
                                Outside outside = Outside::kZeros) {
    const bool edge = outside == Outside::kEdge;
    const bool before_end = y < static_cast<T>(height) && x < static_cast<T>(width);
    if (!before_end || !(edge ? y >= 0 && x >= 0 : y >= -1 && x >= -1)) return;
    const auto y0 = static_cast<int64_t>(std::floor(y)), x0 = static_cast<int64_t>(std::floor(x));
    const bool last_row = edge && y0 + 1 == height, last_column = edge && x0 + 1 == width;
    const T fy = last_row ? T{0} : y - static_cast<T>(y0);
    const T fx = last_column ? T{0} : x - static_cast<T>(x0);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const int64_t row = last_row ? y0 : y0 + i, column = last_column ? x0 : x0 + j;
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        const int k = 2 * i + j;
        const T wy = i == 0 ? 1 - fy : fy, wx = j == 0 ? 1 - fx : fx;
        at[k] = row * width + column;
        weight[k] = wy * wx;
        slope_y[k] = i == 0 ? -wx : wx;
        slope_x[k] = j == 0 ? -wy : wy;
      }
    }
  }

  // Whether all four pixels are inside: the same numbers without a question for each.
  bool whole() const { return (at[0] | at[1] | at[2] | at[3]) >= 0; }
  T whole_sum(const T* plane, const T* factors) const {
    return beside + factors[0] * plane[at[0]] + factors[1] * plane[at[1]] +
           factors[2] * plane[at[2]] + factors[3] * plane[at[3]];
  }

  MX_HOST_DEVICE T value(const T* plane) const { return sum(plane, weight); }
  MX_HOST_DEVICE T value_slope_y(const T* plane) const { return sum(plane, slope_y); }
  MX_HOST_DEVICE T value_slope_x(const T* plane) const { return sum(plane, slope_x); }
  void add(T value, T* plane) const {
    for (int k = 0; k < 4; ++k) {
      if (at[k] >= 0) plane[at[k]] += weight[k] * value;
    }
  }

 private:
  MX_HOST_DEVICE T sum(const T* plane, const T* factors) const {
    T result = beside;
    for (int k = 0; k < 4; ++k) {
      if (at[k] >= 0) result += factors[k] * plane[at[k]];
    }
    return result;
  }
};

}  // namespace mxnet
