// SPDX-License-Identifier: Apache-2.0
// Where windows and pixels of a PoolGeometry lie, for kernels: which pixels a window sees, which
// windows see a pixel.
#pragma once
#include "op/windows/pooling_geometry.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace pooling {

struct Range {
  int64_t begin, end;
  MX_DEVICE int64_t size() const { return end > begin ? end - begin : 0; }
};

MX_DEVICE int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
MX_DEVICE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// One dimension of a PoolGeometry.
struct Side {
  int64_t image, map, kernel;
  Divider stride;
  int64_t pad, pad_behind;
  // Where the window at `place` begins, perhaps in the padding.
  MX_DEVICE int64_t begin(int64_t place) const { return place * stride.by() - pad; }
  // Pixels of the window at `place`.
  MX_DEVICE Range window(int64_t place) const {
    return {larger(begin(place), 0), smaller(begin(place) + kernel, image)};
  }
  MX_DEVICE int64_t padded(int64_t place) const {
    return smaller(begin(place) + kernel, image + pad_behind) - begin(place);
  }
  // Places of the windows that may see `pixel`.
  MX_DEVICE Range places(int64_t pixel) const {
    const int64_t last = stride.quotient(pixel + pad), before = pixel + pad - kernel;
    return {before < 0 ? 0 : stride.quotient(before) + 1, smaller(last + 1, map)};
  }
};

// Pixels of an image.
struct Box {
  Range z, y, x;

  MX_DEVICE bool empty() const { return z.size() == 0 || y.size() == 0 || x.size() == 0; }
  // f(z, y, x) of every `lanes`-th pixel from `lane` on, in the order of memory.
  template <class F>
  MX_DEVICE void each(int lane, int lanes, const F& f) const {
    if (empty()) return;
    if (lanes == 1) {
      for (int64_t k = z.begin; k < z.end; ++k)
        for (int64_t j = y.begin; j < y.end; ++j)
          for (int64_t i = x.begin; i < x.end; ++i) f(k, j, i);
      return;
    }
    const Step first = step(lane), further = step(lanes);
    int64_t k = z.begin, j = y.begin, i = x.begin;
    for (go(first, k, j, i); k < z.end; go(further, k, j, i)) f(k, j, i);
  }

 private:
  // A number of pixels as whole planes, lines, and what is left.
  struct Step {
    int64_t z, y, x;
  };
  MX_DEVICE Step step(int64_t pixels) const {
    const int64_t lines = pixels / x.size(), planes = lines / y.size();
    return {planes, lines - planes * y.size(), pixels - lines * x.size()};
  }
  MX_DEVICE void go(const Step& by, int64_t& k, int64_t& j, int64_t& i) const {
    i += by.x;
    j += by.y;
    k += by.z;
    if (i >= x.end) {
      i -= x.size();
      ++j;
    }
    if (j >= y.end) {
      j -= y.size();
      ++k;
    }
  }
};

// Pixels of an array: of a plane, of all planes of a sample, and the sides but the first.
struct Pixels {
  Divider plane, sample, height, width;
  Pixels(const PoolGeometry::Sizes& sizes, int64_t channels)
      : plane(sizes[0] * sizes[1] * sizes[2]),
        sample(sizes[0] * sizes[1] * sizes[2] * channels),
        height(sizes[1]),
        width(sizes[2]) {}
};

// A PoolGeometry for kernels.
struct Pool {
  Side z, y, x;
  Pixels image, map;
  Divider channels;
  bool channels_last, include_pad, zero_padding;
  PoolKind type;
  int power;

  explicit Pool(const PoolGeometry& g)
      : z(side(g, 0)),
        y(side(g, 1)),
        x(side(g, 2)),
        image(g.image, g.channels),
        map(g.map, g.channels),
        channels(g.channels),
        channels_last(g.channels_last),
        include_pad(g.include_pad),
        zero_padding(g.zero_padding),
        type(g.type),
        power(g.power) {}
  static Side side(const PoolGeometry& g, std::size_t i) {
    return {g.image[i], g.map[i], g.kernel[i], Divider(g.stride[i]), g.pad[i], g.pad_behind[i]};
  }

  // Where a plane begins in arrays of `size` pixels, and how far its pixels are apart.
  struct Plane {
    int64_t first, step;
  };
  // A number of an array: its plane's number and its place.
  struct Place {
    int64_t plane, z, y, x;
  };
  MX_DEVICE Place place(int64_t i, const Pixels& of) const {
    int64_t plane, pixel;
    if (channels_last) {
      const int64_t outer = of.sample.quotient(i), rest = i - outer * of.sample.by();
      pixel = channels.quotient(rest);
      plane = outer * channels.by() + rest - pixel * channels.by();
    } else {
      plane = of.plane.quotient(i);
      pixel = i - plane * of.plane.by();
    }
    const int64_t line = of.width.quotient(pixel), depth = of.height.quotient(line);
    return {plane, depth, line - depth * of.height.by(), pixel - line * of.width.by()};
  }
  MX_DEVICE Plane plane(int64_t number, int64_t size) const {
    if (!channels_last) return {number * size, 1};
    const int64_t outer = channels.quotient(number);
    return {outer * size * channels.by() + number - outer * channels.by(), channels.by()};
  }
  MX_DEVICE int64_t image_size() const { return image.plane.by(); }
  MX_DEVICE int64_t map_size() const { return map.plane.by(); }
  MX_DEVICE int64_t pixel(int64_t k, int64_t j, int64_t i) const {
    return (k * y.image + j) * x.image + i;
  }
  int64_t kernel_size() const { return z.kernel * y.kernel * x.kernel; }
  // A pixel's place in the kernel of the window at `at`, and the pixel at such a place.
  MX_DEVICE int64_t in_kernel(const Place& at, int64_t k, int64_t j, int64_t i) const {
    return ((k - z.begin(at.z)) * y.kernel + j - y.begin(at.y)) * x.kernel + i - x.begin(at.x);
  }
  MX_DEVICE int64_t of_kernel(const Place& at, int64_t place) const {
    const int64_t line = place / x.kernel, depth = line / y.kernel;
    return pixel(z.begin(at.z) + depth, y.begin(at.y) + line - depth * y.kernel,
                 x.begin(at.x) + place - line * x.kernel);
  }
  MX_DEVICE Box window(const Place& at) const {
    return {z.window(at.z), y.window(at.y), x.window(at.x)};
  }
  MX_DEVICE static int64_t counted_along(const Side& side, int64_t place, bool zero, bool pad) {
    return zero ? side.kernel : pad ? side.padded(place) : side.window(place).size();
  }
  // What an average divides by.
  MX_DEVICE int64_t counted(int64_t k, int64_t j, int64_t i) const {
    const int64_t n = counted_along(z, k, zero_padding, include_pad) *
                      counted_along(y, j, zero_padding, include_pad) *
                      counted_along(x, i, zero_padding, include_pad);
    return larger(n, 1);
  }
  MX_DEVICE bool sees_zero(int64_t k, int64_t j, int64_t i) const {
    const int64_t seen[] = {z.padded(k), y.padded(j), x.padded(i)};
    return zero_padding && seen[0] > 0 && seen[1] > 0 && seen[2] > 0 &&
           (seen[0] > z.window(k).size() || seen[1] > y.window(j).size() ||
            seen[2] > x.window(i).size());
  }
};

}  // namespace pooling
}  // namespace cuda
}  // namespace mxnet
