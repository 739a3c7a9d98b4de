// SPDX-License-Identifier: Apache-2.0
// The arrays of a convolution as oneDNN describes them. Included by files called *_onednn.cc only.
#pragma once
#include <algorithm>
#include <numeric>
#include <string_view>

#include "op/onednn/runtime.h"
#include "op/windows/conv_geometry.h"

namespace mxnet::onednn {

// The arrays of a geometry as oneDNN sees them.
class ConvArrays {
 public:
  explicit ConvArrays(const ConvGeometry& g) : g_(g) {}

  dnnl::memory::dims image() const { return with_spatial({g_.batch, g_.image_channels}, g_.image); }
  dnnl::memory::dims map() const { return with_spatial({g_.batch, g_.map_channels}, g_.map); }
  dnnl::memory::dims weight() const {
    const dnnl::memory::dims front =
        g_.groups > 1 ? dnnl::memory::dims{g_.groups, g_.map_group(), g_.image_group()}
                      : dnnl::memory::dims{g_.map_group(), g_.image_group()};
    return with_spatial(front, g_.kernel);
  }
  dnnl::memory::dims stride() const { return with_spatial({}, g_.stride); }
  dnnl::memory::dims pad() const { return with_spatial({}, g_.pad); }
  dnnl::memory::dims pad_behind() const {
    dnnl::memory::dims dims;
    for (int i = 3 - g_.spatial; i < 3; ++i) dims.push_back(g_.pad_behind(i));
    return dims;
  }
  // Pixels left out between two: one less than ours.
  dnnl::memory::dims dilate() const {
    dnnl::memory::dims dims = with_spatial({}, g_.dilate);
    for (auto& d : dims) --d;
    return dims;
  }

  // `dims` in the order of our arrays: the last of those before the spatial ones, the channels,
  // lies where the layout says.
  dnnl::memory::desc plain(const dnnl::memory::dims& dims, dnnl::memory::data_type type) const {
    const std::size_t n = dims.size(), channel = n - static_cast<std::size_t>(g_.spatial) - 1;
    std::vector<std::size_t> order(n);  // from the outermost
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (g_.channels_last)
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(channel),
                  order.begin() + static_cast<std::ptrdiff_t>(channel) + 1, order.end());
    dnnl::memory::dims steps(n);
    dnnl::memory::dim step = 1;
    for (std::size_t i = n; i-- > 0; step *= dims[order[i]]) steps[order[i]] = step;
    return {dims, type, steps};
  }

 private:
  dnnl::memory::dims with_spatial(dnnl::memory::dims dims, const ConvGeometry::Sizes& sizes) const {
    dims.insert(dims.end(), sizes.end() - g_.spatial, sizes.end());
    return dims;
  }
  const ConvGeometry& g_;
};

inline dnnl::memory::desc any_layout(const dnnl::memory::dims& dims, dnnl::memory::data_type type) {
  return {dims, type, dnnl::memory::format_tag::any};
}

// Not a kernel of its own, but columns of the image in a product of matrices.
template <class Desc>
bool multiplies_columns(const Desc& desc) {
  return std::string_view(desc.impl_info_str()).find("gemm") != std::string_view::npos;
}

// Whether oneDNN's gradient of the weight can be trusted. In bfloat16 (oneDNN 3.2, AVX512_BF16)
// what belongs to places of the kernel that meet no pixel is not zero but whatever lies in memory,
// and in three dimensions all of it may be where the kernel is longer than the image.
inline bool weight_gradient_is_right(const ConvGeometry& g, DType dtype) {
  if (dtype == DType::kFloat32) return true;
  for (std::size_t d = 0; d < 3; ++d)
    if (g.dilate[d] * (g.kernel[d] - 1) >= g.image[d]) return false;
  return g.kernel_meets_image();
}

}  // namespace mxnet::onednn
