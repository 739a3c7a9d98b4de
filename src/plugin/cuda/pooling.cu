// SPDX-License-Identifier: Apache-2.0
// Kernels of Pooling and its gradients (op/windows/pooling_geometry.h). A window has a thread, or a
// group of threads where it is large; a pixel's gradient has a thread, which looks at the windows
// over it, so that results repeat from run to run. Where the maxima are is found once a window and
// kept: pixels would look through all of each window again.
#include "op/windows/pooling_geometry.h"

#include <limits>

#include "plugin/cuda/elements.cuh"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/pooling.cuh"
#include "plugin/cuda/primitives.h"
#include "plugin/cuda/reduced.cuh"

namespace mxnet {
namespace cuda {
namespace {

using pooling::Box;
using pooling::Pool;
using pooling::Range;

template <class T>
struct Forward {
  using C = Compute<T>;
  Pool g;
  const T* image;
  T* map;
  C lowest;  // of all maxima

  MX_DEVICE C part(int64_t i, int lane, int lanes) const {
    const Pool::Place at = g.place(i, g.map);
    const Pool::Plane from = g.plane(at.plane, g.image_size());
    C value = g.type == PoolKind::kMax ? lowest : C(0);
    g.window(at).each(lane, lanes, [&](int64_t z, int64_t y, int64_t x) {
      value = merge(value, raised(widen(image[from.first + g.pixel(z, y, x) * from.step])));
    });
    return value;
  }
  // Of a maximum, `b` is what came later: NaN is passed over.
  MX_DEVICE C merge(C a, C b) const {
    if (g.type == PoolKind::kMax) return b > a ? b : a;
    return a + b;
  }
  MX_DEVICE void finish(int64_t i, C value) const {
    const Pool::Place at = g.place(i, g.map);
    map[i] = narrow<T>(ended(value, at));
  }
  MX_DEVICE C raised(C pixel) const {
    if (g.type != PoolKind::kLp || g.power == 1) return pixel;
    return g.power == 2 ? pixel * pixel : pixel * pixel * pixel;
  }
  MX_DEVICE C ended(C value, const Pool::Place& at) const {
    switch (g.type) {
      case PoolKind::kMax:
        if (g.sees_zero(at.z, at.y, at.x)) return value > C(0) ? value : C(0);
        return value;
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

// A window's largest number so far, and where in its kernel; none: nothing is larger than -inf.
template <class C>
struct Maximum {
  C value;
  int64_t at;
};

// Finds the first maximum of each window, and hands on where it is.
template <class T, class Then>
struct FirstMaximum {
  using C = Compute<T>;
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  Pool g;
  const T* image;
  Then then;

  MX_DEVICE Maximum<C> part(int64_t i, int lane, int lanes) const {
    const Pool::Place at = g.place(i, g.map);
    const Pool::Plane plane = g.plane(at.plane, g.image_size());
    Maximum<C> best{-static_cast<C>(INFINITY), kNone};
    g.window(at).each(lane, lanes, [&](int64_t z, int64_t y, int64_t x) {
      const C pixel = widen(image[plane.first + g.pixel(z, y, x) * plane.step]);
      if (pixel > best.value) best = {pixel, g.in_kernel(at, z, y, x)};
    });
    return best;
  }
  MX_DEVICE Maximum<C> merge(const Maximum<C>& a, const Maximum<C>& b) const {
    if (a.value != b.value) return a.value > b.value ? a : b;
    return a.at < b.at ? a : b;
  }
  MX_DEVICE void finish(int64_t i, Maximum<C> best) const {
    const Pool::Place at = g.place(i, g.map);
    const Box window = g.window(at);
    const bool none = window.empty() || (best.value < C(0) && g.sees_zero(at.z, at.y, at.x));
    // Where nothing is larger than -inf it is the first pixel.
    if (!none && best.at == kNone)
      best.at = g.in_kernel(at, window.z.begin, window.y.begin, window.x.begin);
    then(g, i, at, none ? -1 : best.at);
  }
};

// Where in its kernel a window's first maximum is; all bits set where it has none.
template <class Offset>
struct KeepOffset {
  Offset* offsets;
  MX_DEVICE void operator()(const Pool&, int64_t i, const Pool::Place&, int64_t at) const {
    offsets[i] = static_cast<Offset>(at);
  }
};

template <class T>
struct Pick {
  const T* picked;
  T* map;
  MX_DEVICE void operator()(const Pool& g, int64_t i, const Pool::Place& at, int64_t offset) const {
    const Pool::Plane plane = g.plane(at.plane, g.image_size());
    map[i] = offset < 0 ? T() : picked[plane.first + g.of_kernel(at, offset) * plane.step];
  }
};

// Adds up, for a pixel, what the windows over it give. Offset: what says where maxima are.
template <class T, class Offset>
struct Slope {
  using C = Compute<T>;
  Pool g;
  const T *dmap, *image, *map;
  const Offset* offsets;
  T* dimage;

  MX_DEVICE void operator()(int64_t i) const {
    const Pool::Place at = g.place(i, g.image);
    const Pool::Plane of_map = g.plane(at.plane, g.map_size());
    const Range planes = g.z.places(at.z), lines = g.y.places(at.y), columns = g.x.places(at.x);
    C sum = C(0);
    for (int64_t k = planes.begin; k < planes.end; ++k)
      for (int64_t j = lines.begin; j < lines.end; ++j)
        for (int64_t l = columns.begin; l < columns.end; ++l) {
          const int64_t place = of_map.first + ((k * g.y.map + j) * g.x.map + l) * of_map.step;
          const C dy = widen(dmap[place]);
          if (g.type == PoolKind::kMax)
            sum += offsets[place] == mine({at.plane, k, j, l}, at) ? dy : C(0);
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
  MX_DEVICE Offset mine(const Pool::Place& window, const Pool::Place& pixel) const {
    return static_cast<Offset>(g.in_kernel(window, pixel.z, pixel.y, pixel.x));
  }
  MX_DEVICE C of_norm(C dy, int64_t place) const {
    if (g.power == 1) return dy;
    const C norm = widen(map[place]), divisor = g.power == 2 ? norm : norm * norm;
    return divisor == C(0) ? C(0) : dy / divisor;
  }
};

template <class F>
struct OneThread {
  F f;
  MX_DEVICE void operator()(int64_t i) const { f.finish(i, f.part(i, 0, 1)); }
};

// f of every window. Threads of neighbouring channels that lie last read one line of memory
// together, so that there a window has one thread, if there are enough of them to fill a GPU.
template <class F>
void for_each_window(NativeStream* stream, const char* name, int64_t windows, const F& f) {
  constexpr int64_t kFills = int64_t{1} << 17;
  const int64_t pixels = f.g.kernel_size();
  if (pixels < kWarp || (f.g.channels_last && windows >= kFills))
    for_each(stream, name, windows, OneThread<F>{f});
  else
    for_each_group(stream, name, windows, pixels >= kLongLine, f);
}

}  // namespace

void pool(NativeStream* stream, const PoolGeometry& geometry, double lowest, const Tensor& image,
          const Tensor& map) {
  for_dtype<kFloating.bits_>(image.dtype, "Pooling", [&](auto element) {
    using T = decltype(element);
    for_each_window(
        stream, "pool", map.size(),
        Forward<T>{Pool(geometry), image.as<T>(), map.as<T>(), static_cast<Compute<T>>(lowest)});
  });
}

void pool_slope(NativeStream* stream, const PoolGeometry& geometry, const Tensor& dmap,
                const Tensor* image, const Tensor* map, const Tensor& dimage,
                KernelContext& context) {
  // What a gradient is given tells what it is of: the operator's parameter may say anything.
  Pool g(geometry);
  if (image == nullptr)
    g.type = g.type == PoolKind::kAvg ? PoolKind::kAvg : PoolKind::kSum;
  else
    g.type = map == nullptr ? PoolKind::kMax : PoolKind::kLp;
  for_dtype<kFloating.bits_>(dimage.dtype, "Pooling", [&](auto element) {
    using T = decltype(element);
    const auto data = [](const Tensor* t) { return t == nullptr ? nullptr : t->as<T>(); };
    const auto run = [&](auto* offsets) {
      using Offset = std::remove_pointer_t<decltype(offsets)>;
      if (g.type == PoolKind::kMax) {
        offsets = context.workspace_of<Offset>(dmap.size());
        for_each_window(stream, "pool_maxima", dmap.size(),
                        FirstMaximum<T, KeepOffset<Offset>>{g, image->as<T>(), {offsets}});
      }
      for_each(stream, "pool_slope", dimage.size(),
               Slope<T, Offset>{g, dmap.as<T>(), data(image), data(map), offsets, dimage.as<T>()});
    };
    if (g.kernel_size() <= std::numeric_limits<uint8_t>::max())
      run(static_cast<uint8_t*>(nullptr));
    else
      run(static_cast<int64_t*>(nullptr));
  });
}

void pool_pick(NativeStream* stream, const PoolGeometry& geometry, const Tensor& image,
               const Tensor& picked, const Tensor& map) {
  for_dtype<kFloating.bits_>(image.dtype, "Pooling", [&](auto element) {
    using T = decltype(element);
    for_each_window(
        stream, "pool_pick", map.size(),
        FirstMaximum<T, Pick<T>>{Pool(geometry), image.as<T>(), {picked.as<T>(), map.as<T>()}});
  });
}

}  // namespace cuda
}  // namespace mxnet
