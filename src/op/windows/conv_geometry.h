// SPDX-License-Identifier: Apache-2.0
// Parameters of Convolution and Deconvolution, and the one geometry that both of them and their
// gradients compute in: a convolution reads an image and writes a map; a deconvolution goes back.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/export.h"
#include "base/shape.h"
#include "op/infer.h"
#include "op/windows/layout.h"

namespace mxnet {

struct ConvParams {
  Shape kernel, stride, dilate, pad;
  Shape adj, target_shape;  // of Deconvolution
  uint32_t num_filter, num_group;
  bool no_bias;
  Layout layout;
  // What a gradient is asked for: bits of data, weight and bias.
  int32_t wanted;
  // For devices with a choice of algorithms; without meaning on the CPU.
  uint64_t workspace;
  int8_t cudnn_tune;
  bool cudnn_off;

  int spatial() const { return kernel.ndim(); }
  int64_t stride_of(int i) const { return stride.empty() ? 1 : stride[i]; }
  int64_t dilate_of(int i) const { return dilate.empty() ? 1 : dilate[i]; }
  int64_t pad_of(int i) const { return pad.empty() ? 0 : pad[i]; }
  int64_t adj_of(int i) const { return adj.empty() ? 0 : adj[i]; }
  int64_t target_of(int i) const { return target_shape.empty() ? 0 : target_shape[i]; }
  // Pixels from the first to the last that a kernel sees.
  int64_t reach(int i) const { return dilate_of(i) * (kernel[i] - 1) + 1; }
};

// Always three spatial dimensions; missing ones come first and have size 1.
struct ConvGeometry {
  using Sizes = std::array<int64_t, 3>;

  int spatial;  // those that the arrays have
  bool channels_last;
  int64_t batch, groups;
  int64_t image_channels, map_channels;  // of all groups
  Sizes image, map, kernel, stride, dilate;
  Sizes pad;  // zeros before the image; behind it are as many as the map needs

  int64_t image_size() const { return image[0] * image[1] * image[2]; }
  int64_t map_size() const { return map[0] * map[1] * map[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t image_group() const { return image_channels / groups; }
  int64_t map_group() const { return map_channels / groups; }
  // Whether a third of what blocks of channels compute would be padding. They are slower then than
  // no blocks, but for images of less than one block; with a quarter of padding they are as fast
  // (docs/onednn.md).
  bool pads_much() const;
  // Whether each number of the map sees one pixel: its own.
  bool is_pointwise() const;
  // Whether each place of the kernel meets a pixel somewhere: small images have less than it
  // reaches.
  bool kernel_meets_image() const;
  // Zeros behind the image that the last place of the kernel sees; less than 0 where it does not
  // come to the end.
  int64_t pad_behind(int i) const {
    const auto d = static_cast<std::size_t>(i);
    return (map[d] - 1) * stride[d] + dilate[d] * (kernel[d] - 1) + 1 - image[d] - pad[d];
  }
};

// The geometry of a call. Convolution: image = data, map = output; Deconvolution the other way
// round. `pad` is that of the parameters, or what target_shape makes of it.
MX_PLUGIN_API ConvGeometry conv_geometry(const ConvParams& params, const Shape& image,
                                         const Shape& map, bool transposed);

// Inputs data, weight[, bias], output 0.
void infer_convolution(const ConvParams& params, Infer& infer);
void infer_deconvolution(const ConvParams& params, Infer& infer);

}  // namespace mxnet
