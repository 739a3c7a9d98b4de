// SPDX-License-Identifier: Apache-2.0
// Kernels of Pooling and its gradients (op/windows/pooling_geometry.h): one thread for each number
// that is written, which looks at all it depends on, so that results repeat from run to run.
#include "op/windows/pooling_geometry.h"

#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

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
  // Pixels of the window at `place`.
  MX_DEVICE Range window(int64_t place) const {
    const int64_t begin = place * stride.by() - pad;
    return {larger(begin, 0), smaller(begin + kernel, image)};
  }
  MX_DEVICE int64_t padded(int64_t place) const {
    const int64_t begin = place * stride.by() - pad;
    return smaller(begin + kernel, image + pad_behind) - begin;
  }
  // Places of the windows that may see `pixel`.
  MX_DEVICE Range places(int64_t pixel) const {
    const int64_t last = stride.quotient(pixel + pad), before = pixel + pad - kernel;
    return {before < 0 ? 0 : stride.quotient(before) + 1, smaller(last + 1, map)};
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
    return zero_padding && (z.padded(k) > z.window(k).size() || y.padded(j) > y.window(j).size() ||
                            x.padded(i) > x.window(i).size());
  }
};

template <class T>
struct Forward {
  using C = Compute<T>;
  Pool g;
  const T* image;
  T* map;
  C lowest;

  MX_DEVICE void operator()(int64_t i) const {
    const Pool::Place at = g.place(i, g.map);
    const Pool::Plane from = g.plane(at.plane, g.image_size());
    const Range planes = g.z.window(at.z), lines = g.y.window(at.y), columns = g.x.window(at.x);
    const bool max = g.type == PoolKind::kMax;
    C value = max ? -static_cast<C>(INFINITY) : C(0);
    for (int64_t z = planes.begin; z < planes.end; ++z)
      for (int64_t y = lines.begin; y < lines.end; ++y)
        for (int64_t x = columns.begin; x < columns.end; ++x) {
          const C pixel = widen(image[from.first + g.pixel(z, y, x) * from.step]);
          if (max)
            value = pixel > value ? pixel : value;
          else
            value += raised(pixel);
        }
    const bool blind = planes.size() == 0 || lines.size() == 0 || columns.size() == 0;
    map[i] = narrow<T>(ended(value, blind, at));
  }
  MX_DEVICE C raised(C pixel) const {
    if (g.type != PoolKind::kLp || g.power == 1) return pixel;
    return g.power == 2 ? pixel * pixel : pixel * pixel * pixel;
  }
  MX_DEVICE C ended(C value, bool blind, const Pool::Place& at) const {
    switch (g.type) {
      case PoolKind::kMax:
        if (g.sees_zero(at.z, at.y, at.x)) return value > C(0) ? value : C(0);
        return blind ? lowest : value;
      case PoolKind::kAvg:
        return value / static_cast<C>(g.counted(at.z, at.y, at.x));
      case PoolKind::kSum:
        return value;
      case PoolKind::kLp:
        return g.power == 1   ? value
               : g.power == 2 ? row_words::sqrt(value)
                              : row_words::cbrt(value);
    }
    return value;
  }
};

// The pixel of a window's first maximum; -1 where it has none.
template <class T>
MX_DEVICE int64_t first_maximum(const Pool& g, const T* image, const Pool::Plane& plane, int64_t k,
                                int64_t j, int64_t i) {
  using C = Compute<T>;
  const Range planes = g.z.window(k), lines = g.y.window(j), columns = g.x.window(i);
  if (planes.size() == 0 || lines.size() == 0 || columns.size() == 0) return -1;
  // Where nothing is larger than -inf it is the first pixel.
  int64_t where = g.pixel(planes.begin, lines.begin, columns.begin);
  C best = -static_cast<C>(INFINITY);
  for (int64_t z = planes.begin; z < planes.end; ++z)
    for (int64_t y = lines.begin; y < lines.end; ++y)
      for (int64_t x = columns.begin; x < columns.end; ++x) {
        const int64_t at = g.pixel(z, y, x);
        const C pixel = widen(image[plane.first + at * plane.step]);
        if (pixel > best) {
          best = pixel;
          where = at;
        }
      }
  return best < C(0) && g.sees_zero(k, j, i) ? -1 : where;
}

// Adds up, for a pixel, what the windows over it give.
template <class T>
struct Slope {
  using C = Compute<T>;
  Pool g;
  const T *dmap, *image, *map;
  T* dimage;

  MX_DEVICE void operator()(int64_t i) const {
    const Pool::Place at = g.place(i, g.image);
    const Pool::Plane of_map = g.plane(at.plane, g.map_size());
    const Pool::Plane of_image = g.plane(at.plane, g.image_size());
    const Range planes = g.z.places(at.z), lines = g.y.places(at.y), columns = g.x.places(at.x);
    const int64_t mine = g.pixel(at.z, at.y, at.x);
    C sum = C(0);
    for (int64_t k = planes.begin; k < planes.end; ++k)
      for (int64_t j = lines.begin; j < lines.end; ++j)
        for (int64_t l = columns.begin; l < columns.end; ++l) {
          const int64_t place = of_map.first + ((k * g.y.map + j) * g.x.map + l) * of_map.step;
          const C dy = widen(dmap[place]);
          if (g.type == PoolKind::kMax)
            sum += first_maximum(g, image, of_image, k, j, l) == mine ? dy : C(0);
          else if (g.type == PoolKind::kAvg)
            sum += dy / static_cast<C>(g.counted(k, j, l));
          else if (g.type == PoolKind::kLp)
            sum += of_norm(dy, place);
          else
            sum += dy;
        }
    if (g.type == PoolKind::kLp && g.power > 1) {
      const C x = widen(image[i]);
      sum *= g.power == 2 ? x : x * x;
    }
    dimage[i] = narrow<T>(sum);
  }
  MX_DEVICE C of_norm(C dy, int64_t place) const {
    if (g.power == 1) return dy;
    const C norm = widen(map[place]), divisor = g.power == 2 ? norm : norm * norm;
    return divisor == C(0) ? C(0) : dy / divisor;
  }
};

template <class T>
struct Pick {
  Pool g;
  const T *image, *picked;
  T* map;
  MX_DEVICE void operator()(int64_t i) const {
    const Pool::Place at = g.place(i, g.map);
    const Pool::Plane plane = g.plane(at.plane, g.image_size());
    const int64_t pixel = first_maximum(g, image, plane, at.z, at.y, at.x);
    map[i] = pixel < 0 ? T() : picked[plane.first + pixel * plane.step];
  }
};

}  // namespace

void pool(NativeStream* stream, const PoolGeometry& geometry, double lowest, const Tensor& image,
          const Tensor& map) {
  for_dtype<kFloating.bits_>(image.dtype, "Pooling", [&](auto element) {
    using T = decltype(element);
    for_each(
        stream, "pool", map.size(),
        Forward<T>{Pool(geometry), image.as<T>(), map.as<T>(), static_cast<Compute<T>>(lowest)});
  });
}

void pool_slope(NativeStream* stream, const PoolGeometry& geometry, const Tensor& dmap,
                const Tensor* image, const Tensor* map, const Tensor& dimage) {
  // What a gradient is given tells what it is of: the operator's parameter may say anything.
  Pool g(geometry);
  if (image == nullptr)
    g.type = g.type == PoolKind::kAvg ? PoolKind::kAvg : PoolKind::kSum;
  else
    g.type = map == nullptr ? PoolKind::kMax : PoolKind::kLp;
  for_dtype<kFloating.bits_>(dimage.dtype, "Pooling", [&](auto element) {
    using T = decltype(element);
    const auto data = [](const Tensor* t) { return t == nullptr ? nullptr : t->as<T>(); };
    for_each(stream, "pool_slope", dimage.size(),
             Slope<T>{g, dmap.as<T>(), data(image), data(map), dimage.as<T>()});
  });
}

void pool_pick(NativeStream* stream, const PoolGeometry& geometry, const Tensor& image,
               const Tensor& picked, const Tensor& map) {
  for_dtype<kFloating.bits_>(image.dtype, "Pooling", [&](auto element) {
    using T = decltype(element);
    for_each(stream, "pool_pick", map.size(),
             Pick<T>{Pool(geometry), image.as<T>(), picked.as<T>(), map.as<T>()});
  });
}

}  // namespace cuda
}  // namespace mxnet
