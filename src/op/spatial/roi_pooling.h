// SPDX-License-Identifier: Apache-2.0
// The bins of ROIPooling, for the CPU and for kernels.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "base/shape.h"

namespace mxnet {

struct RoiPoolingParams {
  Shape pooled_size;
  float spatial_scale;
};

// The place of the feature map that a coordinate of the image lies in. Far outside, where infinity
// is, all are alike; NaN is far below.
template <class T>
MX_HOST_DEVICE int64_t roi_place(T x, float spatial_scale) {
  constexpr T kFar = 1LL << 40;  // no map is as large; products with numbers of bins fit int64
  const T place = std::round(x * static_cast<T>(spatial_scale));
  return static_cast<int64_t>(place > -kFar ? place < kFar ? place : kFar : -kFar);
}

// Places of bin i of `bins`, [first, last), along an axis of `size` places.
struct BinSpan {
  int64_t first, last;
};
template <class T>
MX_HOST_DEVICE BinSpan bin_span(int64_t i, int64_t bins, int64_t start, int64_t end, int64_t size) {
  const T bin = static_cast<T>(std::max<int64_t>(end - start + 1, 1)) / static_cast<T>(bins);
  const auto first = static_cast<int64_t>(std::floor(static_cast<T>(i) * bin));
  const auto last = static_cast<int64_t>(std::ceil(static_cast<T>(i + 1) * bin));
  return {std::clamp<int64_t>(first + start, 0, size), std::clamp<int64_t>(last + start, 0, size)};
}

}  // namespace mxnet
