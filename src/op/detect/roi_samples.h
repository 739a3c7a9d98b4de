// SPDX-License-Identifier: Apache-2.0
// Pooling of regions by bilinear samples: where the samples of each bin lie and what they weigh is
// found once and used for all channels.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/host_device.h"
#include "op/run/parallel.h"

namespace mxnet::detect {

template <class T>
struct Sample {
  int64_t at[4];  // in a plane
  T weight[4];
};

// A sample at (y, x) of a plane; none beyond a pixel outside of it, clamped before, and none of a
// plane without pixels.
template <class T>
MX_HOST_DEVICE bool make_sample(T y, T x, int64_t height, int64_t width, Sample<T>* sample) {
  if (!(y >= -1 && y <= static_cast<T>(height) && x >= -1 && x <= static_cast<T>(width)))
    return false;
  if (height == 0 || width == 0) return false;
  const auto axis = [](T at, int64_t size, int64_t* low, int64_t* high) {
    at = std::max(at, T{0});
    *low = std::min(static_cast<int64_t>(at), size - 1);
    *high = std::min(*low + 1, size - 1);
    return *low == size - 1 ? T{0} : at - static_cast<T>(*low);
  };
  int64_t y0, y1, x0, x1;
  const T fy = axis(y, height, &y0, &y1), fx = axis(x, width, &x0, &x1);
  *sample = {{y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1},
             {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx}};
  return true;
}

// The samples of one region: those of bin b are [first[b], first[b + 1]).
template <class T>
struct Region {
  int64_t image = -1;  // negative: an empty region, pooled to zeros
  T scale{1};          // of the sum of a bin
  std::vector<int64_t> first;
  std::vector<Sample<T>> samples;
};

struct PoolShape {
  int64_t channels, height, width;  // of an image
  int64_t bins;
  bool position_sensitive;  // each bin has channels of its own

  MX_HOST_DEVICE int64_t area() const { return height * width; }
  MX_HOST_DEVICE int64_t out_channels() const {
    return position_sensitive ? channels / bins : channels;
  }
  MX_HOST_DEVICE int64_t channel(int64_t c, int64_t bin) const {
    return position_sensitive ? c * bins + bin : c;
  }
};

inline constexpr int kPlanes = 4;

// Channels [c, c + kCount) of a region; those of bins that have channels of their own come alone.
template <int kCount, class T>
void pool_planes(const PoolShape& shape, const Region<T>& region, const T* data, int64_t c, T* to) {
  for (int64_t b = 0; b < shape.bins; ++b) {
    const T* plane = data + (region.image * shape.channels + shape.channel(c, b)) * shape.area();
    T sums[kCount] = {};
    const auto bin = static_cast<std::size_t>(b);
    for (int64_t s = region.first[bin]; s < region.first[bin + 1]; ++s) {
      const Sample<T>& sample = region.samples[static_cast<std::size_t>(s)];
      for (int k = 0; k < 4; ++k)
        for (int p = 0; p < kCount; ++p)
          sums[p] += sample.weight[k] * plane[p * shape.area() + sample.at[k]];
    }
    for (int p = 0; p < kCount; ++p) to[p * shape.bins + b] = sums[p] * region.scale;
  }
}

// The reverse, which adds to the planes of `dx`.
template <int kCount, class T>
void unpool_planes(const PoolShape& shape, const Region<T>& region, const T* from, int64_t c,
                   T* dx) {
  for (int64_t b = 0; b < shape.bins; ++b) {
    T* plane = dx + (region.image * shape.channels + shape.channel(c, b)) * shape.area();
    T heads[kCount];
    for (int p = 0; p < kCount; ++p) heads[p] = from[p * shape.bins + b] * region.scale;
    const auto bin = static_cast<std::size_t>(b);
    for (int64_t s = region.first[bin]; s < region.first[bin + 1]; ++s) {
      const Sample<T> sample = region.samples[static_cast<std::size_t>(s)];
      for (int k = 0; k < 4; ++k)
        for (int p = 0; p < kCount; ++p)
          plane[p * shape.area() + sample.at[k]] += heads[p] * sample.weight[k];
    }
  }
}

template <class T>
void pool(const PoolShape& shape, const std::vector<Region<T>>& regions, const T* data, T* out) {
  const int64_t channels = shape.out_channels();
  parallel_for(
      static_cast<int64_t>(regions.size()), 16.0 * static_cast<double>(channels * shape.bins),
      [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const Region<T>& region = regions[static_cast<std::size_t>(r)];
          T* to = out + r * channels * shape.bins;
          if (region.image < 0) {
            std::fill_n(to, channels * shape.bins, T{0});
            continue;
          }
          // Several planes at a time share what is looked up of a sample.
          int64_t c = 0;
          if (!shape.position_sensitive) {
            for (; c + kPlanes <= channels; c += kPlanes)
              pool_planes<kPlanes>(shape, region, data, c, to + c * shape.bins);
          }
          for (; c < channels; ++c) pool_planes<1>(shape, region, data, c, to + c * shape.bins);
        }
      },
      1);
}

// Adds to `dx`. Channels are independent: each is one thread's.
template <class T>
void unpool(const PoolShape& shape, const std::vector<Region<T>>& regions, const T* dout, T* dx) {
  const int64_t channels = shape.out_channels();
  parallel_for(
      channels, 16.0 * static_cast<double>(static_cast<int64_t>(regions.size()) * shape.bins),
      [&](int64_t begin, int64_t end) {
        for (std::size_t r = 0; r < regions.size(); ++r) {
          const Region<T>& region = regions[r];
          if (region.image < 0) continue;
          const T* from = dout + static_cast<int64_t>(r) * channels * shape.bins;
          int64_t c = begin;
          if (!shape.position_sensitive) {
            for (; c + kPlanes <= end; c += kPlanes)
              unpool_planes<kPlanes>(shape, region, from + c * shape.bins, c, dx);
          }
          for (; c < end; ++c) unpool_planes<1>(shape, region, from + c * shape.bins, c, dx);
        }
      },
      1);
}

}  // namespace mxnet::detect
