// SPDX-License-Identifier: Apache-2.0
// Sampling images by a grid on the CPU, a line of places at a time by vectors, and its gradients.
// Apart from grid.h, which kernels of GPUs share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "op/run/parallel.h"
#include "op/spatial/grid.h"
#include "op/spatial/sampling.h"

namespace mxnet {

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
