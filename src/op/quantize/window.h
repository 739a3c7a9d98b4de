// SPDX-License-Identifier: Apache-2.0
// Windows over images of one to three spatial dimensions, channels first; missing dimensions come
// first and have size 1.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/host_device.h"
#include "base/shape.h"
#include "op/windows/layout.h"
#include "op/windows/spatial_dims.h"

namespace mxnet::quantize {

struct Windows {
  using Sizes = std::array<int64_t, 3>;

  int64_t batch, channels;
  Sizes image, map, kernel, stride, dilate, pad;

  MX_HOST_DEVICE int64_t image_size() const { return image[0] * image[1] * image[2]; }
  MX_HOST_DEVICE int64_t map_size() const { return map[0] * map[1] * map[2]; }
  MX_HOST_DEVICE int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }

  // Calls fn(place in the kernel, place in the image) for all of the kernel that lies inside the
  // image when it is at place `at` of the map.
  template <class F>
  MX_HOST_DEVICE void visit(int64_t at, const F& fn) const {
    const Sizes place{at / (map[1] * map[2]), at / map[2] % map[1], at % map[2]};
    Sizes base;
    for (std::size_t d = 0; d < 3; ++d) base[d] = place[d] * stride[d] - pad[d];
    int64_t k = 0;
    for (int64_t z = 0; z < kernel[0]; ++z) {
      const int64_t iz = base[0] + z * dilate[0];
      for (int64_t y = 0; y < kernel[1]; ++y) {
        const int64_t iy = base[1] + y * dilate[1];
        for (int64_t x = 0; x < kernel[2]; ++x, ++k) {
          const int64_t ix = base[2] + x * dilate[2];
          if (iz >= 0 && iz < image[0] && iy >= 0 && iy < image[1] && ix >= 0 && ix < image[2])
            fn(k, (iz * image[1] + iy) * image[2] + ix);
        }
      }
    }
  }
};

// The part of the image that a window covers along one dimension.
struct Span {
  int64_t first, last;
  int64_t size() const { return std::max<int64_t>(last - first, 0); }
};
inline Span span_of(const Windows& w, std::size_t d, int64_t place) {
  const int64_t begin = place * w.stride[d] - w.pad[d];
  return {std::max<int64_t>(begin, 0), std::min(begin + w.kernel[d], w.image[d])};
}

// Parameters as the operators have them; empty shapes are the default.
struct WindowParams {
  const Shape &kernel, &stride, &dilate, &pad;
};
inline Windows windows(const WindowParams& params, const Shape& image, const Shape& map) {
  Windows w{image[0], image[1], {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  for_each_spatial_dim(image.ndim() - 2, false, [&](int i, std::size_t d, int axis) {
    w.image[d] = image[axis];
    w.map[d] = map[axis];
    w.kernel[d] = params.kernel.empty() ? 1 : params.kernel[i];
    w.stride[d] = params.stride.empty() ? 1 : params.stride[i];
    w.dilate[d] = params.dilate.empty() ? 1 : params.dilate[i];
    w.pad[d] = params.pad.empty() ? 0 : params.pad[i];
  });
  return w;
}

}  // namespace mxnet::quantize
