// SPDX-License-Identifier: Apache-2.0
// Sampling grids: (x, y) pairs from -1 to 1 for each place of the result, and sampling by them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

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

template <class T>
using Lanes [[gnu::vector_size(16)]] = T;

// Two neighbours in a line, of as many places as a vector has lanes: each two are read together.
template <class T>
struct Neighbours;
template <>
struct Neighbours<float> {
  Lanes<float> left, right;
  Neighbours(const float* line, const int32_t* at) {
    const auto two = [&](int i) {
      double pixels;
      std::memcpy(&pixels, line + at[i], sizeof pixels);
      return pixels;
    };
    const auto first = reinterpret_cast<Lanes<float>>(Lanes<double>{two(0), two(1)});
    const auto last = reinterpret_cast<Lanes<float>>(Lanes<double>{two(2), two(3)});
    left = __builtin_shufflevector(first, last, 0, 2, 4, 6);
    right = __builtin_shufflevector(first, last, 1, 3, 5, 7);
  }
};
template <>
struct Neighbours<double> {
  Lanes<double> left, right;
  Neighbours(const double* line, const int32_t* at) {
    const double *const one = line + at[0], *const other = line + at[1];
    left = Lanes<double>{one[0], other[0]};
    right = Lanes<double>{one[1], other[1]};
  }
};

// What samples are made of, for a line of places: where the upper of the four pixels are and what
// each counts. Places of which a pixel is outside are told apart, and read the first pixels. (By
// vectors in so many words: the compiler makes none of the same loop over floats.)
constexpr int64_t kPlaces = 32;
template <class T>
struct WholeSamples {
  static constexpr int64_t kLanes = sizeof(Lanes<T>) / sizeof(T);
  typedef int32_t Four __attribute__((vector_size(16)));
  typedef int32_t Two __attribute__((vector_size(8)));
  using Places = std::conditional_t<kLanes == 4, Four, Two>;

  int32_t at[kPlaces], inside[kPlaces];  // inside: 0 or -1
  T weight[4][kPlaces];
  bool all;

  static bool can_be(const SampleShape& shape) {
    return shape.width > 1 && shape.height > 1 &&
           shape.area() <= std::numeric_limits<int32_t>::max();
  }

  // The same numbers as those of BilinearSample, without its questions.
  // REQUIRES: can_be(shape), and kPlaces of xs and of ys
  WholeSamples(const SampleShape& shape, const T* xs, const T* ys) {
    const T across = static_cast<T>(shape.width - 1), down = static_cast<T>(shape.height - 1);
    const auto width = static_cast<int32_t>(shape.width);
    Places none{};
    for (int64_t i = 0; i < kPlaces; i += kLanes) {
      const Lanes<T> x = (loaded(xs + i) + 1) * across / 2, y = (loaded(ys + i) + 1) * down / 2;
      const auto here = (x >= 0) & (y >= 0) & (x < across) & (y < down);
      const Places is_here = __builtin_convertvector(here, Places);
      const Places left = __builtin_convertvector(here ? x : Lanes<T>{}, Places);
      const Places above = __builtin_convertvector(here ? y : Lanes<T>{}, Places);
      const Lanes<T> fx = x - __builtin_convertvector(left, Lanes<T>);
      const Lanes<T> fy = y - __builtin_convertvector(above, Lanes<T>);
      none |= ~is_here;
      store(is_here, inside + i);
      store(above * width + left, at + i);
      store((1 - fy) * (1 - fx), weight[0] + i);
      store((1 - fy) * fx, weight[1] + i);
      store(fy * (1 - fx), weight[2] + i);
      store(fy * fx, weight[3] + i);
    }
    all = true;
    for (int64_t lane = 0; lane < kLanes; ++lane) all = all && none[lane] == 0;
  }

  // Samples of one plane, a vector of them at a time; kPlaces of them.
  void take(const T* plane, int64_t width, T* to) const {
    for (int64_t i = 0; i < kPlaces; i += kLanes) {
      const Neighbours<T> above(plane, at + i), below(plane + width, at + i);
      store(Lanes<T>{} + loaded(weight[0] + i) * above.left + loaded(weight[1] + i) * above.right +
                loaded(weight[2] + i) * below.left + loaded(weight[3] + i) * below.right,
            to + i);
    }
  }

 private:
  static Lanes<T> loaded(const T* from) {
    Lanes<T> result;
    std::memcpy(&result, from, sizeof result);
    return result;
  }
  template <class Vector>
  static void store(const Vector& vector, void* to) {
    std::memcpy(to, &vector, sizeof vector);
  }
};

// A line of places at a time, channel by channel, so that one plane of the data is read and one
// line of the result is written at a time.
template <class T>
void sample_by_grid(const SampleShape& shape, const T* data, const T* grid, T* out) {
  const int64_t area = shape.out_area(), lines = (area + kPlaces - 1) / kPlaces;
  const bool has_whole = WholeSamples<T>::can_be(shape);
  parallel_for(
      shape.batch * lines, 8.0 * static_cast<double>(shape.channels * kPlaces),
      [&](int64_t first, int64_t last) {
        for (int64_t line = first; line < last; ++line) {
          const int64_t n = line / lines, begin = line % lines * kPlaces;
          const int64_t count = area - begin < kPlaces ? area - begin : kPlaces;
          const T* const planes = data + n * shape.channels * shape.area();
          T* const to = out + n * shape.channels * area + begin;
          std::optional<WholeSamples<T>> wholes;
          if (has_whole) {
            const T *xs = grid + n * 2 * area + begin, *ys = xs + area;
            T padded[2][kPlaces] = {};
            if (count < kPlaces) {
              xs = std::copy_n(xs, count, padded[0]) - count;
              ys = std::copy_n(ys, count, padded[1]) - count;
            }
            wholes.emplace(shape, xs, ys);
            for (int64_t c = 0; c < shape.channels; ++c) {
              T last[kPlaces], *const line = count == kPlaces ? to + c * area : last;
              wholes->take(planes + c * shape.area(), shape.width, line);
              if (line == last) std::copy_n(last, count, to + c * area);
            }
            if (wholes->all) continue;
          }
          for (int64_t i = 0; i < count; ++i) {
            if (wholes && wholes->inside[i] != 0) continue;
            const BilinearSample<T> sample = shape.sample(grid, n, begin + i);
            for (int64_t c = 0; c < shape.channels; ++c)
              to[c * area + i] = sample.value(planes + c * shape.area());
          }
        }
      },
      1);
}

// Either result may be null. Images are independent.
template <class T>
void sample_by_grid_backward(const SampleShape& shape, const T* data, const T* grid, const T* dout,
                             T* ddata, T* dgrid) {
  const int64_t area = shape.out_area();
  parallel_for(
      shape.batch, 16.0 * static_cast<double>(shape.channels * area),
      [&](int64_t first, int64_t last) {
        std::optional<BilinearSample<T>> samples[kPlaces];
        for (int64_t n = first; n < last; ++n) {
          if (ddata != nullptr) {
            T* planes = ddata + n * shape.channels * shape.area();
            for (int64_t i = 0; i < shape.channels * shape.area(); ++i) planes[i] = T{0};
          }
          for (int64_t begin = 0; begin < area; begin += kPlaces) {
            const int64_t count = area - begin < kPlaces ? area - begin : kPlaces;
            T dx[kPlaces] = {}, dy[kPlaces] = {};
            for (int64_t i = 0; i < count; ++i)
              samples[i].emplace(shape.sample(grid, n, begin + i));
            for (int64_t c = n * shape.channels; c < (n + 1) * shape.channels; ++c) {
              const T *const plane = data + c * shape.area(), *const d = dout + c * area + begin;
              for (int64_t i = 0; i < count; ++i) {
                const BilinearSample<T>& sample = *samples[i];
                const bool whole = sample.whole();
                if (ddata != nullptr) sample.add(d[i], ddata + c * shape.area());
                if (dgrid == nullptr) continue;
                dx[i] += d[i] * (whole ? sample.whole_sum(plane, sample.slope_x)
                                       : sample.value_slope_x(plane));
                dy[i] += d[i] * (whole ? sample.whole_sum(plane, sample.slope_y)
                                       : sample.value_slope_y(plane));
              }
            }
            if (dgrid == nullptr) continue;
            T* to = dgrid + n * 2 * area + begin;
            for (int64_t i = 0; i < count; ++i) {
              to[i] = dx[i] * static_cast<T>(shape.width - 1) / 2;
              to[area + i] = dy[i] * static_cast<T>(shape.height - 1) / 2;
            }
          }
        }
      },
      1);
}

}  // namespace mxnet
