// SPDX-License-Identifier: Apache-2.0
// Three products with the matrix of columns (what the kernel sees at each place), a tile of it at a
// time in cache. How the work is cut depends on shapes only, so that results do not depend on the
// number of threads.
#include "op/nn/conv_plain.h"

#include <algorithm>
#include <type_traits>

#include "op/nn/conv_lines.h"
#include "op/products/products.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Elements of a tile of columns: 1 MiB of float, about half of a second-level cache.
constexpr int64_t kTileElements = 256 * 1024;
// A multiply-add of a matrix product costs about an eighth of an elementary operation.
constexpr double kMultiplyCost = 0.125;

// visit(place, pixel, count) for each run of neighbouring places in [first, last) at which kernel
// position k sees pixels, the next place's pixel being stride[2] further.
template <class Visit>
void for_each_run(const ConvGeometry& g, int64_t k, int64_t first, int64_t last,
                  const Visit& visit) {
  const int64_t width = g.map[2], stride = g.stride[2];
  const int64_t kx = k % g.kernel[2], ky = k / g.kernel[2] % g.kernel[1],
                kz = k / g.kernel[2] / g.kernel[1];
  const int64_t start = kx * g.dilate[2] - g.pad[2];
  // Places of a line whose pixel lies in the image.
  const int64_t seen = start >= 0 ? 0 : (-start + stride - 1) / stride;
  const int64_t unseen = start >= g.image[2] ? 0 : (g.image[2] - 1 - start) / stride + 1;
  for (int64_t line = first / width; line * width < last; ++line) {
    const int64_t y = line % g.map[1] * g.stride[1] + ky * g.dilate[1] - g.pad[1];
    const int64_t z = line / g.map[1] * g.stride[0] + kz * g.dilate[0] - g.pad[0];
    if (y < 0 || y >= g.image[1] || z < 0 || z >= g.image[0]) continue;
    const int64_t begin = std::max(seen, first - line * width);
    const int64_t end = std::min({unseen, last - line * width, width});
    if (begin >= end) continue;
    visit(line * width + begin, (z * g.image[1] + y) * g.image[2] + start + begin * stride,
          end - begin);
  }
}

// Columns of places [first, last), of `channels` channels from `image` on.
template <class T>
void to_columns(const ConvGeometry& g, const T* image, int64_t channels, int64_t first,
                int64_t last, T* columns) {
  const int64_t count = last - first, stride = g.stride[2];
  std::fill_n(columns, channels * g.kernel_size() * count, T{0});
  for (int64_t c = 0; c < channels; ++c, image += g.image_size()) {
    for (int64_t k = 0; k < g.kernel_size(); ++k, columns += count) {
      for_each_run(g, k, first, last, [&](int64_t place, int64_t pixel, int64_t n) {
        T* to = columns + place - first;
        const T* from = image + pixel;
        if (stride == 1) {
          std::copy_n(from, n, to);
        } else {
          for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
        }
      });
    }
  }
}

// The way back: pixels add up what lies in their columns.
template <class T>
void add_columns(const ConvGeometry& g, const T* columns, int64_t channels, int64_t first,
                 int64_t last, T* image) {
  const int64_t stride = g.stride[2];
  for (int64_t c = 0; c < channels; ++c, image += g.image_size()) {
    for (int64_t k = 0; k < g.kernel_size(); ++k, columns += last - first) {
      for_each_run(g, k, first, last, [&](int64_t place, int64_t pixel, int64_t n) {
        const T* from = columns + place - first;
        T* to = image + pixel;
        for (int64_t i = 0; i < n; ++i) to[i * stride] += from[i];
      });
    }
  }
}

// fn(task, buffer) for each task, in threads that have `buffer` elements of their own.
template <class T, class F>
void for_each_task(int64_t tasks, double cost, int64_t buffer, KernelContext& context,
                   const F& fn) {
  if (tasks == 0) return;
  const int64_t parts = std::min<int64_t>(tasks, threads_for(tasks, cost));
  T* buffers = buffer == 0 ? nullptr : context.workspace_of<T>(parts * buffer);
  parallel_for(
      parts, cost * static_cast<double>(tasks) / static_cast<double>(parts),
      [&](int64_t first, int64_t last) {
        for (int64_t part = first; part < last; ++part) {
          for (int64_t task = part * tasks / parts; task < (part + 1) * tasks / parts; ++task)
            fn(task, buffers + part * buffer);
        }
      },
      1);
}

double product_cost(int64_t m, int64_t n, int64_t k) {
  return kMultiplyCost * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

// Where the channels of a group are cut: into parts of `channels`, so that there is work for
// several threads even in one image. The columns of a part are made `places` at a time.
struct Cut {
  int64_t channels, parts, places;
  Cut(const ConvGeometry& g, int64_t independent) {
    const int64_t group = g.image_group();
    constexpr int64_t kEnough = 8;
    places = std::min<int64_t>(g.map_size(), 4096);
    channels =
        std::max<int64_t>(1, kTileElements / (g.kernel_size() * std::max<int64_t>(places, 1)));
    channels = std::min(channels, independent >= kEnough ? group : (group + 3) / 4);
    channels = std::max<int64_t>(channels, 1);
    parts = (group + channels - 1) / channels;
  }
};

// A tile of columns, for matrix products.
template <class T>
struct Columns {
  const T* values;
  int64_t step;  // from row to row
};
template <class T>
Columns<T> columns_of(const ConvGeometry& g, const T* image, int64_t channels, int64_t first,
                      int64_t last, T* buffer) {
  if (g.is_pointwise()) return {image + first, g.image_size()};
  to_columns(g, image, channels, first, last, buffer);
  return {buffer, last - first};
}

// ---- One channel of the image each: no matrix, sums of shifted lines ----

template <class T>
void map_directly(const ConvGeometry& g, const T* image, const T* weight, const T* bias, T* map,
                  KernelContext& context) {
  const int64_t size = g.map_size();
  const double cost = static_cast<double>(size * g.kernel_size());
  for_each_task<T>(g.batch * g.map_channels, cost, 0, context, [&](int64_t task, T*) {
    const int64_t c = task % g.map_channels;
    const T* from = image + (task / g.map_channels * g.groups + c / g.map_group()) * g.image_size();
    T* to = map + task * size;
    const T offset = bias == nullptr ? T{0} : bias[c];
    if (g.is_pointwise()) {
      const T w = weight[c];
      for (int64_t i = 0; i < size; ++i) to[i] = offset + w * from[i];
      return;
    }
    std::fill_n(to, size, offset);
    for (int64_t k = 0; k < g.kernel_size(); ++k) {
      const T w = weight[c * g.kernel_size() + k];
      for_each_run(g, k, 0, size, [&](int64_t place, int64_t pixel, int64_t n) {
        for (int64_t i = 0; i < n; ++i) to[place + i] += w * from[pixel + i * g.stride[2]];
      });
    }
  });
}

// Pixels of one channel that several others are made of: their gradients are products of a matrix
// and a vector.
bool is_thin(const ConvGeometry& g) { return g.is_pointwise() && g.map_group() > 1; }

template <class T>
void image_directly(const ConvGeometry& g, const T* map, const T* weight, const T* bias, T* image,
                    KernelContext& context) {
  const int64_t size = g.image_size(), group = g.map_group();
  const double cost = static_cast<double>(g.map_size() * g.kernel_size() * group);
  for_each_task<T>(g.batch * g.groups, cost, 0, context, [&](int64_t task, T*) {
    const int64_t c = task % g.groups;
    T* to = image + task * size;
    std::fill_n(to, size, bias == nullptr ? T{0} : bias[c]);
    for (int64_t k = 0; k < group * g.kernel_size(); ++k) {
      const T w = weight[c * group * g.kernel_size() + k];
      const T* from = map + (task * group + k / g.kernel_size()) * g.map_size();
      for_each_run(g, k % g.kernel_size(), 0, g.map_size(),
                   [&](int64_t place, int64_t pixel, int64_t n) {
                     for (int64_t i = 0; i < n; ++i)
                       to[pixel + i * g.stride[2]] += w * from[place + i];
                   });
    }
  });
}

template <class T>
void weight_directly(const ConvGeometry& g, const T* image, const T* map, T* weight,
                     KernelContext& context) {
  const double cost = static_cast<double>(g.batch * g.map_size() * g.kernel_size());
  for_each_task<T>(g.map_channels, cost, 0, context, [&](int64_t c, T*) {
    for (int64_t k = 0; k < g.kernel_size(); ++k) {
      T sum{0};
      for (int64_t b = 0; b < g.batch; ++b) {
        const T* seen = image + (b * g.groups + c / g.map_group()) * g.image_size();
        const T* at = map + (b * g.map_channels + c) * g.map_size();
        T part{0};
        for_each_run(g, k, 0, g.map_size(), [&](int64_t place, int64_t pixel, int64_t n) {
          for (int64_t i = 0; i < n; ++i) part += at[place + i] * seen[pixel + i * g.stride[2]];
        });
        sum += part;
      }
      weight[c * g.kernel_size() + k] = sum;
    }
  });
}

}  // namespace

template <class T>
void conv_map(const ConvGeometry& g, const T* image, const T* weight, const T* bias, T* map,
              KernelContext& context) {
  if constexpr (std::is_same_v<T, float>) {
    if (suits_lines(g)) return convolve_lines(g, image, weight, {.bias = bias}, map, context);
  }
  if (g.image_group() == 1) return map_directly(g, image, weight, bias, map, context);
  const int64_t rows = g.image_group() * g.kernel_size(), size = g.map_size();
  const int64_t places =
      std::min(std::max<int64_t>(size, 1),
               std::max<int64_t>(64, kTileElements / std::max<int64_t>(rows, 1)));
  const int64_t tiles = (size + places - 1) / places;
  // Products with a vector wait for memory.
  const auto moved = static_cast<double>((rows + g.map_group()) * places) * sizeof(T);
  const double cost = std::max(product_cost(g.map_group(), places, rows),
                               g.is_pointwise() ? cost_of_moving(moved) : 0.0);
  for_each_task<T>(
      g.batch * g.groups * tiles, cost, g.is_pointwise() ? 0 : rows * places, context,
      [&](int64_t task, T* buffer) {
        const int64_t first = task % tiles * places, last = std::min(size, first + places);
        const int64_t part = task / tiles, group = part % g.groups;  // part: of batch and groups
        const Columns<T> columns = columns_of(g, image + part * g.image_group() * g.image_size(),
                                              g.image_group(), first, last, buffer);
        T* to = map + part * g.map_group() * size + first;
        for (int64_t c = 0; bias != nullptr && c < g.map_group(); ++c)
          std::fill_n(to + c * size, last - first, bias[group * g.map_group() + c]);
        multiply_here(false, false, g.map_group(), last - first, rows, T{1},
                      weight + group * g.map_group() * rows, rows, columns.values, columns.step,
                      bias == nullptr ? T{0} : T{1}, to, size);
      });
}

template <class T>
void conv_image(const ConvGeometry& g, const T* map, const T* weight, const T* bias, T* image,
                KernelContext& context) {
  if (g.image_group() == 1 && !is_thin(g))
    return image_directly(g, map, weight, bias, image, context);
  const Cut cut(g, g.batch * g.groups);
  const int64_t rows = g.image_group() * g.kernel_size(), size = g.map_size();
  const bool direct = g.is_pointwise();
  for_each_task<T>(
      g.batch * g.groups * cut.parts,
      product_cost(cut.channels * g.kernel_size(), size, g.map_group()),
      direct ? 0 : cut.channels * g.kernel_size() * cut.places, context,
      [&](int64_t task, T* buffer) {
        const int64_t channel = task % cut.parts * cut.channels, part = task / cut.parts;
        const int64_t channels = std::min(cut.channels, g.image_group() - channel);
        const int64_t group = part % g.groups;
        T* to = image + (part * g.image_group() + channel) * g.image_size();
        for (int64_t c = 0; c < channels; ++c)
          std::fill_n(to + c * g.image_size(), g.image_size(),
                      bias == nullptr ? T{0} : bias[group * g.image_group() + channel + c]);
        const T* w = weight + group * g.map_group() * rows + channel * g.kernel_size();
        for (int64_t first = 0; first < size; first += cut.places) {
          const int64_t last = std::min(size, first + cut.places);
          const T* from = map + part * g.map_group() * size + first;
          multiply_here(true, false, channels * g.kernel_size(), last - first, g.map_group(), T{1},
                        w, rows, from, size, direct ? T{1} : T{0}, direct ? to + first : buffer,
                        direct ? size : last - first);
          if (!direct) add_columns(g, buffer, channels, first, last, to);
        }
      });
}

template <class T>
void conv_weight(const ConvGeometry& g, const T* image, const T* map, T* weight,
                 KernelContext& context) {
  if (g.image_group() == 1 && !is_thin(g)) return weight_directly(g, image, map, weight, context);
  const Cut cut(g, g.groups);
  const int64_t rows = g.image_group() * g.kernel_size(), size = g.map_size();
  if (g.batch == 0) std::fill_n(weight, g.map_channels * rows, T{0});
  for_each_task<T>(
      g.groups * cut.parts,
      product_cost(g.map_group(), cut.channels * g.kernel_size(), size * g.batch),
      g.is_pointwise() ? 0 : cut.channels * g.kernel_size() * cut.places, context,
      [&](int64_t task, T* buffer) {
        const int64_t channel = task % cut.parts * cut.channels, group = task / cut.parts;
        const int64_t channels = std::min(cut.channels, g.image_group() - channel);
        T* to = weight + group * g.map_group() * rows + channel * g.kernel_size();
        for (int64_t b = 0; b < g.batch; ++b) {
          const int64_t part = b * g.groups + group;
          const T* from = image + (part * g.image_group() + channel) * g.image_size();
          for (int64_t first = 0; first < size; first += cut.places) {
            const int64_t last = std::min(size, first + cut.places);
            const Columns<T> columns = columns_of(g, from, channels, first, last, buffer);
            multiply_here(false, true, g.map_group(), channels * g.kernel_size(), last - first,
                          T{1}, map + part * g.map_group() * size + first, size, columns.values,
                          columns.step, b == 0 && first == 0 ? T{0} : T{1}, to, rows);
          }
        }
      });
}

#define MX_INSTANTIATE(T)                                                            \
  template void conv_map<T>(const ConvGeometry&, const T*, const T*, const T*, T*,   \
                            KernelContext&);                                         \
  template void conv_image<T>(const ConvGeometry&, const T*, const T*, const T*, T*, \
                              KernelContext&);                                       \
  template void conv_weight<T>(const ConvGeometry&, const T*, const T*, T*, KernelContext&);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet
