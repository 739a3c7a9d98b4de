// SPDX-License-Identifier: Apache-2.0
// From our windows, which may reach behind the padding, to oneDNN's.
#include "op/onednn/pooling.h"

#include <limits>

namespace mxnet::onednn {
namespace {

// What oneDNN begins maxima with, the lowest float, is minus infinity in half types; ours are their
// lowest number. No other maximum of numbers of these types is below it.
dnnl::primitive_attr attributes_of(dnnl::algorithm algorithm, dnnl::memory::data_type type) {
  dnnl::primitive_attr all = attributes();
  const bool half = type == dnnl::memory::data_type::f16 || type == dnnl::memory::data_type::bf16;
  if (algorithm != dnnl::algorithm::pooling_max || !half) return all;
  dnnl::post_ops clip;
  clip.append_eltwise(dnnl::algorithm::eltwise_clip,
                      type == dnnl::memory::data_type::f16 ? -65504.0F : -0x1.fep127F,
                      std::numeric_limits<float>::infinity());
  all.set_post_ops(clip);
  return all;
}

}  // namespace

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
          attributes_of(windows.algorithm, image.get_data_type())};
}

}  // namespace mxnet::onednn
