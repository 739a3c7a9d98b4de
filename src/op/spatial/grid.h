// SPDX-License-Identifier: Apache-2.0
// Sampling grids: (x, y) pairs from -1 to 1 for each place of the result, and the sample of one.
#pragma once
#include <cstdint>
#include <optional>

#include "base/host_device.h"
#include "base/shape.h"
#include "op/run/parallel.h"
#include "op/spatial/sampling.h"

namespace mxnet {

// Place i of n, from -1 to 1.
template <class T>
MX_HOST_DEVICE T grid_place(int64_t i, int64_t n) {
  return n == 1 ? T{-1} : T{-1} + static_cast<T>(i) * (T{2} / static_cast<T>(n - 1));
}

// x or y of a place of the result, whose own are given, under three numbers of a 2 x 3 matrix.
template <class T>
MX_HOST_DEVICE T affine_place(const T* theta, T x, T y) {
  return theta[0] * x + theta[1] * y + theta[2];
}

// Flow in pixels to a grid: the place itself, i, plus the flow, times this slope, less 1.
template <class T>
MX_HOST_DEVICE T warp_slope(int64_t size) {
  return size == 1 ? T{0} : T{2} / static_cast<T>(size - 1);
}
template <class T>
MX_HOST_DEVICE T warp_place(T flow, int64_t i, T slope) {
  return (flow + static_cast<T>(i)) * slope - 1;
}

// grid (batch, 2, height, width) = theta (batch, 2 x 3) times the places of the result.
template <class T>
void affine_grid(const T* theta, int64_t batch, int64_t height, int64_t width, T* grid) {
  parallel_for(
      batch * 2, 2.0 * static_cast<double>(height * width),
      [&](int64_t first, int64_t last) {
        for (int64_t r = first; r < last; ++r) {
          const T* t = theta + r * 3;
          T* to = grid + r * height * width;
          for (int64_t i = 0; i < height; ++i) {
            const T y = grid_place<T>(i, height);
            for (int64_t j = 0; j < width; ++j) *to++ = affine_place(t, grid_place<T>(j, width), y);
          }
        }
      },
      1);
}
template <class T>
void affine_grid_backward(const T* dgrid, int64_t batch, int64_t height, int64_t width, T* dtheta) {
  for (int64_t r = 0; r < batch * 2; ++r) {
    const T* d = dgrid + r * height * width;
    T sums[3] = {};
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t j = 0; j < width; ++j, ++d) {
        sums[0] += *d * grid_place<T>(j, width);
        sums[1] += *d * grid_place<T>(i, height);
        sums[2] += *d;
      }
    }
    for (int k = 0; k < 3; ++k) dtheta[r * 3 + k] = sums[k];
  }
}

enum class Transform : int32_t { kAffine, kWarp };

struct GridParams {
  Transform transform_type;
  Shape target_shape;
};

enum class Sampler : int32_t { kBilinear };

struct TransformerParams {
  Shape target_shape;
  Transform transform_type;
  Sampler sampler_type;
  std::optional<bool> cudnn_off;  // of GPUs
};

struct SamplerParams {
  std::optional<bool> cudnn_off;  // of GPUs
};

struct SampleShape {
  int64_t batch, channels, height, width;  // of data
  int64_t out_height, out_width;

  SampleShape(const Shape& data, int64_t out_height, int64_t out_width)
      : batch(data[0]),
        channels(data[1]),
        height(data[2]),
        width(data[3]),
        out_height(out_height),
        out_width(out_width) {}
  MX_HOST_DEVICE int64_t area() const { return height * width; }
  MX_HOST_DEVICE int64_t out_area() const { return out_height * out_width; }
  // The sample of place `at` of image n, by a grid (batch, 2, out_height, out_width).
  template <class T>
  MX_HOST_DEVICE BilinearSample<T> sample(const T* grid, int64_t n, int64_t at) const {
    const T* xs = grid + n * 2 * out_area();
    const T x = (xs[at] + 1) * static_cast<T>(width - 1) / 2;
    const T y = (xs[out_area() + at] + 1) * static_cast<T>(height - 1) / 2;
    BilinearSample<T> sample(y, x, height, width);
    if (!(x - x == 0 && y - y == 0)) sample.beside = x - x + y - y;  // nowhere: NaN, not zero
    return sample;
  }
};

}  // namespace mxnet
