// SPDX-License-Identifier: Apache-2.0
// Windows become numbers line by line; gradients of sums and norms.
#include "op/nn/pooling_plain.h"

#include <cmath>
#include <vector>

#include "op/nn/pooling_lines.h"
#include "op/nn/pooling_norm.h"
#include "op/nn/pooling_walk.h"

namespace mxnet {
namespace {

double plane_cost(const PoolGeometry& g) {
  return 0.5 * static_cast<double>(g.map_size() *
                                   (g.kernel[0] * g.kernel[1] * g.stride[2] + g.kernel[2]));
}

// visit(first place, last place, pixel of the first) for pixel k of the windows of a line: the next
// window's lies stride[2] further.
template <class Visit>
void for_each_tap(const PoolGeometry& g, const Visit& visit) {
  const int64_t stride = g.stride[2];
  for (int64_t k = 0; k < g.kernel[2]; ++k) {
    const int64_t start = k - g.pad[2];
    if (start >= g.image[2]) break;
    const int64_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;
    const int64_t last = std::min(g.map[2], (g.image[2] - 1 - start) / stride + 1);
    if (first < last) visit(first, last, start + first * stride);
  }
}

// How the numbers of a window become one: what it starts from, then join() with lines of the image
// (step 1), and along them (step of the windows).
struct Max {
  template <class T>
  static void join_pixels(T* to, const T* from, int64_t n) {
    pool_lines<T>().raise(to, from, 1, n);
  }
  template <class T>
  static void join(T* to, const T* from, int64_t stride, int64_t n) {
    pool_lines<T>().raise(to, from, stride, n);
  }
};

// Sums of powers.
template <int kPower>
struct Sum {
  template <class T>
  static void join_pixels(T* to, const T* from, int64_t n) {
    if constexpr (kPower == 1) return pool_lines<T>().add(to, from, 1, n);
    if constexpr (kPower == 2) return pool_lines<T>().add_squares(to, from, n);
    for (int64_t i = 0; i < n; ++i) to[i] += from[i] * from[i] * from[i];
  }
  template <class T>
  static void join(T* to, const T* from, int64_t stride, int64_t n) {
    pool_lines<T>().add(to, from, stride, n);
  }
};

template <class How, class T>
void reduce_windows(const PoolGeometry& g, const T* image, T* map, T start = T{0}) {
  const int64_t width = g.image[2];
  for_each_plane(g, plane_cost(g), [&](int64_t plane) {
    const T* from = image + plane * g.image_size();
    std::vector<T> column(static_cast<std::size_t>(width));
    T* line = column.data();
    for_each_line(g, [&](int64_t place, int64_t, int64_t, auto planes, auto lines) {
      std::fill_n(line, width, start);
      for_each_seen(g, planes, lines,
                    [&](int64_t pixel) { How::join_pixels(line, from + pixel, width); });
      T* to = map + plane * g.map_size() + place;
      std::fill_n(to, g.map[2], start);
      for_each_tap(g, [&](int64_t first, int64_t last, int64_t pixel) {
        How::join(to + first, line + pixel, g.stride[2], last - first);
      });
    });
  });
}

// map and its gradient have the same places: fn(number, what the average divides by).
template <class T, class F>
void for_each_place(const PoolGeometry& g, T* map, const F& fn) {
  for_each_plane(g, static_cast<double>(g.map_size()), [&](int64_t plane) {
    for_each_line(g, [&](int64_t place, int64_t z, int64_t y, auto, auto) {
      T* to = map + plane * g.map_size() + place;
      const int64_t counted = g.counted(0, z) * g.counted(1, y);
      for (int64_t x = 0; x < g.map[2]; ++x) fn(to[x], counted * g.counted(2, x));
    });
  });
}

// Padding as zeros.
template <class T>
void settle_maxima(const PoolGeometry& g, T* map) {
  if (!g.zero_padding) return;
  for_each_plane(g, static_cast<double>(g.map_size()), [&](int64_t plane) {
    for_each_line(g, [&](int64_t place, int64_t z, int64_t y, auto, auto) {
      for (int64_t x = 0; x < g.map[2]; ++x) {
        T& value = map[plane * g.map_size() + place + x];
        if (g.sees_zero(z, y, x)) value = std::max(value, T{0});
      }
    });
  });
}

// dimage = what the windows over each pixel add up to, of scale(index in the map).
template <class T, class Scale>
void spread(const PoolGeometry& g, T* dimage, const Scale& scale) {
  const int64_t width = g.image[2], stride = g.stride[2];
  for_each_plane(g, plane_cost(g), [&](int64_t plane) {
    T* to = dimage + plane * g.image_size();
    std::fill_n(to, g.image_size(), T{0});
    std::vector<T> column(static_cast<std::size_t>(width + g.map[2]));
    T *line = column.data(), *scaled = line + width;
    for_each_line(g, [&](int64_t place, int64_t z, int64_t y, auto planes, auto lines) {
      for (int64_t x = 0; x < g.map[2]; ++x)
        scaled[x] = scale(plane * g.map_size() + place + x, z, y, x);
      std::fill_n(line, width, T{0});
      for_each_tap(g, [&](int64_t first, int64_t last, int64_t pixel) {
        for (int64_t i = 0; i < last - first; ++i) line[pixel + i * stride] += scaled[first + i];
      });
      for_each_seen(g, planes, lines, [&](int64_t pixel) {
        for (int64_t x = 0; x < width; ++x) to[pixel + x] += line[x];
      });
    });
  });
}

}  // namespace

template <class T>
void pool_forward(const PoolGeometry& g, const T* image, T lowest, T* map) {
  switch (g.type) {
    case PoolKind::kMax:
      reduce_windows<Max>(g, image, map, lowest);
      return settle_maxima(g, map);
    case PoolKind::kSum:
      return reduce_windows<Sum<1>>(g, image, map);
    case PoolKind::kAvg:
      reduce_windows<Sum<1>>(g, image, map);
      // Windows that see nothing have the sum 0.
      return for_each_place(g, map, [](T& value, int64_t counted) {
        value /= static_cast<T>(std::max<int64_t>(counted, 1));
      });
    case PoolKind::kLp:
      if (g.power == 1) return reduce_windows<Sum<1>>(g, image, map);
      if (g.power == 2) {
        reduce_windows<Sum<2>>(g, image, map);
        return for_each_place(g, map, [](T& value, int64_t) { value = std::sqrt(value); });
      }
      reduce_windows<Sum<3>>(g, image, map);
      return for_each_place(g, map, [](T& value, int64_t) { value = std::cbrt(value); });
  }
}

template <class T>
void pool_spread(const PoolGeometry& g, const T* dmap, T* dimage) {
  if (g.type != PoolKind::kAvg)
    return spread(g, dimage, [&](int64_t at, int64_t, int64_t, int64_t) { return dmap[at]; });
  spread(g, dimage, [&](int64_t at, int64_t z, int64_t y, int64_t x) {
    const int64_t counted = g.counted(0, z) * g.counted(1, y) * g.counted(2, x);
    return dmap[at] / static_cast<T>(std::max<int64_t>(counted, 1));
  });
}

template <class T>
void pool_norm_gradient(const PoolGeometry& g, const T* image, const T* map, const T* dmap,
                        T* dimage) {
  spread(g, dimage, [&](int64_t at, int64_t, int64_t, int64_t) {
    return norm_share(dmap[at], map[at], g.power);
  });
  scale_shares(g, image, dimage);
}

#define MX_INSTANTIATE(T)                                              \
  template void pool_forward<T>(const PoolGeometry&, const T*, T, T*); \
  template void pool_spread<T>(const PoolGeometry&, const T*, T*);     \
  template void pool_norm_gradient<T>(const PoolGeometry&, const T*, const T*, const T*, T*);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet
