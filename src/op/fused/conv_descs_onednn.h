// SPDX-License-Identifier: Apache-2.0
// The three directions of a convolution in channel blocks. Included by files called *_onednn.cc
// only.
#pragma once
#include <optional>

#include "op/nn/conv_arrays_onednn.h"
#include "op/prepared_kernel.h"

namespace mxnet::onednn {

// Layouts of a convolution: images_in_training, but where those are blocks for images of few
// channels, which are the network's input (or a deconvolution's last output).
struct ConvDescs {
  dnnl::memory::desc image, weight, bias, map;

  // None for what blocks are not for. `weight` is left to the primitive.
  static std::optional<ConvDescs> of(const ConvParams& params, const ConvGeometry& g, DType dtype);
};

dnnl::convolution_forward::primitive_desc forward_of(const ConvGeometry& g, const ConvDescs& d);
dnnl::convolution_backward_data::primitive_desc data_gradient_of(const ConvGeometry& g,
                                                                 const ConvDescs& d);
// With that of the bias where the description has one.
dnnl::convolution_backward_weights::primitive_desc weight_gradient_of(const ConvGeometry& g,
                                                                      const ConvDescs& d);

}  // namespace mxnet::onednn
