// SPDX-License-Identifier: Apache-2.0
// Pooling as oneDNN describes it, of numbers of any type.
#pragma once
#include <array>
#include <cstdint>

#include "op/onednn/runtime.h"

namespace mxnet::onednn {

// Always three spatial dimensions, of which the last `spatial` exist.
struct PoolWindows {
  using Sizes = std::array<int64_t, 3>;

  dnnl::algorithm algorithm;
  int spatial;
  Sizes image, map, kernel, stride, pad;

  // Zeros behind the image as far as the last window reaches.
  int64_t reach_behind(std::size_t d) const {
    return (map[d] - 1) * stride[d] + kernel[d] - image[d] - pad[d];
  }
  // Whether each window has a pixel, without which oneDNN does not compute it.
  bool all_have_pixels() const;
  // `sizes` of the dimensions that exist.
  dnnl::memory::dims existing(const Sizes& sizes) const {
    return {sizes.end() - spatial, sizes.end()};
  }
};

dnnl::pooling_forward::primitive_desc describe(const PoolWindows& windows,
                                               const dnnl::memory::desc& image,
                                               const dnnl::memory::desc& map);

}  // namespace mxnet::onednn
