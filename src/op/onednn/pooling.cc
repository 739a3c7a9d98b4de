// SPDX-License-Identifier: Apache-2.0
// From our windows, which may reach behind the padding, to oneDNN's.
#include "op/onednn/pooling.h"

namespace mxnet::onednn {

bool PoolWindows::all_have_pixels() const {
  for (std::size_t d = 0; d < image.size(); ++d)
    if (pad[d] >= kernel[d] || reach_behind(d) >= kernel[d]) return false;
  return true;
}

dnnl::pooling_forward::primitive_desc describe(const PoolWindows& windows,
                                               const dnnl::memory::desc& image,
                                               const dnnl::memory::desc& map) {
  PoolWindows::Sizes behind{};
  for (std::size_t d = 0; d < behind.size(); ++d) behind[d] = windows.reach_behind(d);
  return {engine(),
          dnnl::prop_kind::forward_inference,
          windows.algorithm,
          image,
          map,
          windows.existing(windows.stride),
          windows.existing(windows.kernel),
          dnnl::memory::dims(static_cast<std::size_t>(windows.spatial), 0),
          windows.existing(windows.pad),
          windows.existing(behind),
          attributes()};
}

}  // namespace mxnet::onednn
