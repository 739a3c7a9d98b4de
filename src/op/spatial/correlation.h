// SPDX-License-Identifier: Apache-2.0
// Which pixels of two images Correlation compares, for the CPU and for kernels.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "base/shape.h"

namespace mxnet {

struct CorrelationParams {
  uint32_t kernel_size, max_displacement, stride1, stride2, pad_size;
  bool is_multiply;
};

// How well two pixels agree, and the slopes of that by each. Where both are the same, a is taken to
// be the larger one.
template <bool kMultiply>
struct Agreement {
  template <class T>
  MX_HOST_DEVICE static T value(T a, T b) {
    return kMultiply ? a * b : std::abs(a - b);
  }
  template <class T>
  MX_HOST_DEVICE static T slope_a(T a, T b) {
    return kMultiply ? b : a >= b ? T{1} : T{-1};
  }
  template <class T>
  MX_HOST_DEVICE static T slope_b(T a, T b) {
    return kMultiply ? a : a >= b ? T{-1} : T{1};
  }
};
// Sizes that follow from those of the images.
struct CorrelationGeometry {
  int64_t batch, channels, height, width;
  int64_t radius, reach, step, out_step, side, out_height, out_width, pad;
  bool multiply;

  CorrelationGeometry(const CorrelationParams& p, const Shape& data)
      : batch(data[0]), channels(data[1]), height(data[2]), width(data[3]) {
    radius = (int64_t{p.kernel_size} - 1) / 2;
    step = p.stride2;
    out_step = p.stride1;
    pad = p.pad_size;
    multiply = p.is_multiply;
    reach = p.max_displacement / p.stride2;
    side = 2 * reach + 1;
    const int64_t border = int64_t{p.max_displacement} + radius;
    border_ = border;
    out_height = (height + 2 * pad - 2 * border + out_step - 1) / out_step;
    out_width = (width + 2 * pad - 2 * border + out_step - 1) / out_step;
  }
  MX_HOST_DEVICE int64_t out_channels() const { return side * side; }
  // Of the first patch's centre, in the image without padding.
  MX_HOST_DEVICE int64_t start() const { return border_ - pad; }
  // By how much the second image is displaced in an output channel.
  MX_HOST_DEVICE int64_t down(int64_t channel) const { return (channel / side - reach) * step; }
  MX_HOST_DEVICE int64_t right(int64_t channel) const { return (channel % side - reach) * step; }
  double weight() const {
    const int64_t kernel = 2 * radius + 1;
    return 1.0 / static_cast<double>(kernel * kernel * channels);
  }
  // fn(index in data1, index in data2) for all pairs of one image that meet at place (i, j) of one
  // output channel; an index is -1 where the image is padded with zeros. Of channel 0.
  template <class F>
  MX_HOST_DEVICE void pairs(int64_t channel, int64_t i, int64_t j, const F& fn) const {
    const int64_t dy = down(channel), dx = right(channel);
    for (int64_t h = -radius; h <= radius; ++h) {
      for (int64_t w = -radius; w <= radius; ++w) {
        const int64_t y = start() + i * out_step + h, x = start() + j * out_step + w;
        fn(index(y, x), index(y + dy, x + dx));
      }
    }
  }
  template <class T>
  MX_HOST_DEVICE T agreement(T a, T b) const {
    return multiply ? Agreement<true>::value(a, b) : Agreement<false>::value(a, b);
  }
  template <class T>
  MX_HOST_DEVICE T slope_a(T a, T b) const {
    return multiply ? Agreement<true>::slope_a(a, b) : Agreement<false>::slope_a(a, b);
  }
  template <class T>
  MX_HOST_DEVICE T slope_b(T a, T b) const {
    return multiply ? Agreement<true>::slope_b(a, b) : Agreement<false>::slope_b(a, b);
  }
  template <class T>
  MX_HOST_DEVICE static T value(const T* plane, int64_t index) {
    return index < 0 ? T{0} : plane[index];
  }

 private:
  MX_HOST_DEVICE int64_t index(int64_t y, int64_t x) const {
    return y < 0 || y >= height || x < 0 || x >= width ? -1 : y * width + x;
  }
  int64_t border_;  // before the first patch's centre, in the padded image
};

}  // namespace mxnet
