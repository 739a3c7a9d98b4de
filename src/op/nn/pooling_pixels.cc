// SPDX-License-Identifier: Apache-2.0
// Maxima, sums, means and norms of windows of images whose channels lie last, as they lie: turning
// such images would take longer than their sums.
#include <algorithm>
#include <vector>

#include "op/nn/pooling_lines.h"
#include "op/nn/pooling_norm.h"
#include "op/nn/pooling_plain.h"
#include "op/rows/unary_loops.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// visit(pixel) for those of the image that the window at place (z, y, x) has.
template <class Visit>
void for_each_pixel(const PoolGeometry& g, int64_t z, int64_t y, int64_t x, const Visit& visit) {
  const PoolGeometry::Window planes = g.window(0, z), lines = g.window(1, y),
                             columns = g.window(2, x);
  for (int64_t plane = planes.begin; plane < planes.end; ++plane)
    for (int64_t line = lines.begin; line < lines.end; ++line)
      for (int64_t column = columns.begin; column < columns.end; ++column)
        visit((plane * g.image[1] + line) * g.image[2] + column);
}

// What a mean divides by; 1 for sums.
template <class T>
T divisor(const PoolGeometry& g, int64_t z, int64_t y, int64_t x) {
  if (g.type != PoolKind::kAvg) return T{1};
  return static_cast<T>(std::max<int64_t>(g.counted(0, z) * g.counted(1, y) * g.counted(2, x), 1));
}

double window_cost(const PoolGeometry& g) {
  return static_cast<double>(g.channels * g.kernel[0] * g.kernel[1] * g.kernel[2]);
}

// to[c] += what the pixel counts for, or becomes the larger of both.
template <class T>
void join_pixel(const PoolGeometry& g, T* to, const T* pixel) {
  const PoolLines<T>& loops = pool_lines<T>();
  if (g.type == PoolKind::kMax) return loops.raise(to, pixel, 1, g.channels);
  if (g.type == PoolKind::kLp && g.power == 2) return loops.add_squares(to, pixel, g.channels);
  loops.add(to, pixel, 1, g.channels);
}

// What becomes of the maxima of the window at (z, y, x): padding may be zeros.
template <class T>
void settle_maxima(const PoolGeometry& g, int64_t z, int64_t y, int64_t x, T* maxima) {
  if (!g.sees_zero(z, y, x)) return;
  for (int64_t c = 0; c < g.channels; ++c) maxima[c] = std::max(maxima[c], T{0});
}

// The same of sums.
template <class T>
void settle(const PoolGeometry& g, int64_t z, int64_t y, int64_t x, T* sums) {
  if (g.type == PoolKind::kLp && g.power == 2)
    return unary_loop<T>(UnaryRow::sqrt).value(sums, sums, g.channels);
  const T count = divisor<T>(g, z, y, x);
  if (count == T{1}) return;
  for (int64_t c = 0; c < g.channels; ++c) sums[c] /= count;
}

// Adds each window's slope to the first of its largest pixels, for `n` channels of one image; all
// pointers are at the first of them. `end`: of all images. `pixels`: memory for those of a window.
template <class T>
void image_to_first(const PoolGeometry& g, const T* image, const T* end, const T* dmap, int64_t n,
                    T* dimage, std::vector<int64_t>& pixels) {
  const int64_t channels = g.channels;
  const auto spread = pool_lines<T>().spread_window;
  // Pixels that lie together, or one by one.
  const int64_t together = n == channels ? g.image_size() : 1;
  for (int64_t pixel = 0; pixel < g.image_size(); pixel += together)
    std::fill_n(dimage + pixel * channels, together * n, T{0});
  PoolGeometry::Sizes sizes{};  // of the window that `pixels` is of, from its first one
  for (int64_t line = 0; line < g.map[0] * g.map[1]; ++line) {
    const int64_t z = line / g.map[1], y = line % g.map[1];
    const PoolGeometry::Window planes = g.window(0, z), rows = g.window(1, y);
    const int64_t begin = (planes.begin * g.image[1] + rows.begin) * g.image[2];
    for (int64_t x = 0; x < g.map[2]; ++x, dmap += channels) {
      const PoolGeometry::Window columns = g.window(2, x);
      const PoolGeometry::Sizes seen = {planes.size(), rows.size(), columns.size()};
      if (seen != sizes) {
        pixels.clear();
        for_each_pixel(g, z, y, x, [&](int64_t pixel) {
          pixels.push_back((pixel - begin - columns.begin) * channels);
        });
        sizes = seen;
      }
      if (pixels.empty()) continue;
      const int64_t at = (begin + columns.begin) * channels;
      spread(image + at, dimage + at, pixels.data(), static_cast<int64_t>(pixels.size()), dmap, n,
             g.sees_zero(z, y, x), end - (image + at));
    }
  }
}

}  // namespace

template <class T>
void pool_pixels(const PoolGeometry& g, const T* image, T lowest, T* map) {
  const int64_t channels = g.channels, lines = g.map[0] * g.map[1];
  const bool is_max = g.type == PoolKind::kMax;
  const T start = is_max ? lowest : T{0};
  parallel_for(
      g.batch * lines, window_cost(g) * static_cast<double>(g.map[2]),
      [&](int64_t first, int64_t last) {
        T* to = map + first * g.map[2] * channels;
        for (int64_t line = first; line < last; ++line) {
          const int64_t z = line % lines / g.map[1], y = line % g.map[1];
          const T* const from = image + line / lines * g.image_size() * channels;
          for (int64_t x = 0; x < g.map[2]; ++x, to += channels) {
            std::fill_n(to, channels, start);
            for_each_pixel(g, z, y, x,
                           [&](int64_t pixel) { join_pixel(g, to, from + pixel * channels); });
            is_max ? settle_maxima(g, z, y, x, to) : settle(g, z, y, x, to);
          }
        }
      },
      1);
}

template <class T>
void spread_pixels(const PoolGeometry& g, const T* image, const T* map, const T* dmap, T* dimage) {
  const int64_t channels = g.channels;
  const auto add = pool_lines<T>().add;
  // Windows may overlap: an image is one thread's.
  parallel_for(
      g.batch, window_cost(g) * static_cast<double>(g.map_size()),
      [&](int64_t first, int64_t last) {
        std::vector<T> parts(static_cast<std::size_t>(channels));
        int64_t at = first * g.map_size() * channels;
        for (int64_t b = first; b < last; ++b) {
          T* const to = dimage + b * g.image_size() * channels;
          std::fill_n(to, g.image_size() * channels, T{0});
          for (int64_t place = 0; place < g.map_size(); ++place, at += channels) {
            const int64_t x = place % g.map[2], line = place / g.map[2];
            const int64_t z = line / g.map[1], y = line % g.map[1];
            const T *from = dmap + at, count = divisor<T>(g, z, y, x);
            if (map != nullptr || count != T{1}) {
              for (int64_t c = 0; c < channels; ++c) {
                parts[static_cast<std::size_t>(c)] =
                    map != nullptr ? norm_share(from[c], map[at + c], g.power) : from[c] / count;
              }
              from = parts.data();
            }
            for_each_pixel(g, z, y, x,
                           [&](int64_t pixel) { add(to + pixel * channels, from, 1, channels); });
          }
        }
      },
      1);
  if (map != nullptr) scale_shares(g, image, dimage);
}

template <class T>
void pixels_to_first(const PoolGeometry& g, const T* image, const T* dmap, T* dimage) {
  // Windows may overlap: some channels of an image are one thread's. They are split, by lines of
  // the caches, only where there are fewer images than threads.
  constexpr int64_t kLine = 64 / sizeof(T);
  const int64_t channels = g.channels, lines = (channels + kLine - 1) / kLine;
  const double cost = window_cost(g) * static_cast<double>(g.map_size());
  const int threads = threads_for(g.batch * lines, cost / static_cast<double>(lines));
  const int64_t parts = std::min(lines, (threads + g.batch - 1) / std::max<int64_t>(g.batch, 1));
  const T* const end = image + g.batch * g.image_size() * channels;
  parallel_for(
      g.batch * parts, cost / static_cast<double>(parts),
      [&](int64_t first, int64_t last) {
        std::vector<int64_t> pixels;
        for (int64_t part = first; part < last; ++part) {
          const int64_t b = part / parts, channel = lines * (part % parts) / parts * kLine;
          const int64_t n =
              std::min(channels, lines * (part % parts + 1) / parts * kLine) - channel;
          const int64_t start = b * g.image_size() * channels + channel;
          const T* head = dmap + b * g.map_size() * channels + channel;
          image_to_first(g, image + start, end, head, n, dimage + start, pixels);
        }
      },
      1);
}

#define MX_INSTANTIATE(T)                                                                \
  template void pool_pixels<T>(const PoolGeometry&, const T*, T, T*);                    \
  template void spread_pixels<T>(const PoolGeometry&, const T*, const T*, const T*, T*); \
  template void pixels_to_first<T>(const PoolGeometry&, const T*, const T*, T*);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet
