// SPDX-License-Identifier: Apache-2.0
// Descriptors of primitives.
#include "op/fused/conv_descs_onednn.h"

#include "op/onednn/layout.h"

namespace mxnet::onednn {
namespace {

using dnnl::memory;

// At most half of the channels are padding.
bool is_filled(const memory::desc& desc) {
  std::size_t bytes = memory::data_type_size(desc.get_data_type());
  for (const memory::dim d : desc.get_dims()) bytes *= static_cast<std::size_t>(d);
  return desc.get_size() <= 2 * bytes;
}

// `bias`: the description that a gradient of weights has of it, nothing for that of the image.
template <class Gradient, class... Bias>
typename Gradient::primitive_desc gradient_of(const ConvGeometry& g, const ConvDescs& d,
                                              const Bias&... bias) {
  const ConvArrays a(g);
  const ConvDescs forward{d.image, any_layout(a.weight(), d.map.get_data_type()),
                          memory::desc(bias...), d.map};
  return {engine(),
          dnnl::algorithm::convolution_direct,
          d.image,
          d.weight,
          bias...,
          d.map,
          a.stride(),
          a.dilate(),
          a.pad(),
          a.pad_behind(),
          forward_of(g, forward),
          attributes()};
}

}  // namespace

std::optional<ConvDescs> ConvDescs::of(const ConvParams& params, const ConvGeometry& g,
                                       DType dtype) {
  if (channels_last(params.layout)) return std::nullopt;
  const ConvArrays a(g);
  const memory::data_type type = data_type(dtype);
  constexpr int64_t kFewChannels = 4;
  const bool few = g.image_channels <= kFewChannels;
  const bool few_in_rows = few && !(dtype == DType::kBFloat16 && multiplies_bfloat16_in_tiles());
  ConvDescs descs{few_in_rows ? plain_desc(a.image(), type) : images_in_training(a.image(), type),
                  any_layout(a.weight(), type),
                  params.no_bias ? memory::desc() : plain_desc({params.num_filter}, type),
                  images_in_training(a.map(), type)};
  if (!is_filled(descs.image) || !is_filled(descs.map)) return std::nullopt;
  return descs;
}

dnnl::convolution_forward::primitive_desc forward_of(const ConvGeometry& g, const ConvDescs& d) {
  const ConvArrays a(g);
  return {engine(),
          dnnl::prop_kind::forward_training,
          dnnl::algorithm::convolution_direct,
          d.image,
          d.weight,
          d.bias,
          d.map,
          a.stride(),
          a.dilate(),
          a.pad(),
          a.pad_behind(),
          attributes()};
}

dnnl::convolution_backward_data::primitive_desc data_gradient_of(const ConvGeometry& g,
                                                                 const ConvDescs& d) {
  return gradient_of<dnnl::convolution_backward_data>(g, d);
}

dnnl::convolution_backward_weights::primitive_desc weight_gradient_of(const ConvGeometry& g,
                                                                      const ConvDescs& d) {
  return gradient_of<dnnl::convolution_backward_weights>(g, d, d.bias);
}

}  // namespace mxnet::onednn
