// SPDX-License-Identifier: Apache-2.0
// Shapes of convolutions: what parameters must be, and what follows from data.
#include "op/windows/conv_geometry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/simd.h"
#include "op/length.h"
#include "op/windows/spatial_dims.h"
#include "op/windows/window_list.h"

namespace mxnet {
namespace {

// Zeros before the output of a deconvolution that has a target shape: what the kernels reach beyond
// the target is cut off at both ends, the odd one at the beginning.
int64_t pad_for_target(const ConvParams& params, int i, int64_t data) {
  return (params.stride_of(i) * (data - 1) + params.reach(i) - params.target_of(i) + 1) / 2;
}

void check_params(const ConvParams& params, Infer& infer) {
  if (params.spatial() < 1 || params.spatial() > 3) {
    infer.fail(fmt::format("given kernel {}, expected one, two or three dimensions",
                           to_string(params.kernel)));
  }
  check_window_list("kernel", params.kernel, 1, params.spatial(), infer);
  check_window_list("stride", params.stride, 1, params.spatial(), infer);
  check_window_list("dilate", params.dilate, 1, params.spatial(), infer);
  check_window_list("pad", params.pad, 0, params.spatial(), infer);
  check_window_list("adj", params.adj, 0, params.spatial(), infer);
  check_window_list("target_shape", params.target_shape, 0, params.spatial(), infer);
  if (params.layout != Layout::kDefault && spatial_of(params.layout) != params.spatial()) {
    infer.fail(fmt::format("given kernel {}, expected one that has {} dimensions as the layout",
                           to_string(params.kernel), spatial_of(params.layout)));
  }
  if (params.num_filter % params.num_group != 0) {
    infer.fail(fmt::format("given num_filter {}, expected a multiple of num_group {}",
                           params.num_filter, params.num_group));
  }
}

// Data's rank is known and right; its channels, -1 while unknown.
int64_t channels_of(const ConvParams& params, Infer& infer) {
  const InferArg data = infer.in(0);
  if (data.ndim() != params.spatial() + 2) {
    data.fail(fmt::format("{} dimensions: batch, channels and as many as kernel {} has",
                          params.spatial() + 2, to_string(params.kernel)));
  }
  const int64_t channels = data.dim(channels_last(params.layout) ? data.ndim() - 1 : 1);
  if (channels >= 0 && channels % params.num_group != 0) {
    data.fail(fmt::format("a multiple of num_group {} as number of channels", params.num_group));
  }
  return channels;
}

// (outer, kernel..., inner) or (outer, inner, kernel...).
Shape weight_shape(const ConvParams& params, int64_t outer, int64_t inner) {
  Shape shape{outer};
  if (!channels_last(params.layout)) shape.push_back(inner);
  for (const int64_t k : params.kernel) shape.push_back(k);
  if (channels_last(params.layout)) shape.push_back(inner);
  return shape;
}

// The output: data's batch, num_filter channels, size(i, data's size) in spatial dimension i.
template <class Size>
void infer_output(const ConvParams& params, Infer& infer, const Size& size) {
  const InferArg data = infer.in(0);
  const int first = channels_last(params.layout) ? 1 : 2;
  Shape shape = Shape::unknown(params.spatial() + 2);
  shape[0] = data.dim(0);
  shape[channels_last(params.layout) ? params.spatial() + 1 : 1] = params.num_filter;
  for (int i = 0; i < params.spatial(); ++i) {
    if (data.dim(first + i) >= 0) shape[first + i] = size(i, data.dim(first + i));
  }
  infer.out(0).set_shape(shape);
  infer.in(0).set_dim(0, infer.out(0).dim(0));
}

void infer_bias(const ConvParams& params, Infer& infer) {
  if (!params.no_bias) infer.in(2).set_shape({params.num_filter});
}

}  // namespace

void infer_convolution(const ConvParams& params, Infer& infer) {
  check_params(params, infer);
  infer.one_dtype();
  infer_bias(params, infer);
  if (!infer.in(0).rank_known()) return;
  const int64_t channels = channels_of(params, infer);
  infer.in(1).set_shape(
      weight_shape(params, params.num_filter, length::over(channels, params.num_group)));
  infer_output(params, infer, [&](int i, int64_t size) {
    const int64_t room = size + 2 * params.pad_of(i) - params.reach(i);
    if (room < 0 || size == 0) {
      infer.in(0).fail(
          fmt::format("a padded image that holds the {} pixels of the kernel in "
                      "spatial dimension {}",
                      params.reach(i), i));
    }
    return room / params.stride_of(i) + 1;
  });
}

void infer_deconvolution(const ConvParams& params, Infer& infer) {
  check_params(params, infer);
  infer.one_dtype();
  infer_bias(params, infer);
  if (!infer.in(0).rank_known()) return;
  infer.in(1).set_shape(
      weight_shape(params, channels_of(params, infer), params.num_filter / params.num_group));
  infer_output(params, infer, [&](int i, int64_t size) {
    const int64_t full = params.stride_of(i) * (size - 1) + params.reach(i);
    if (const int64_t target = params.target_of(i); target > 0) {
      if (target > full) {
        infer.fail(fmt::format("given target_shape {}, expected at most {} in spatial dimension {}",
                               to_string(params.target_shape), full, i));
      }
      return target;
    }
    if (params.adj_of(i) >= params.stride_of(i)) {
      infer.fail(fmt::format("given adj {}, expected less than the stride in each dimension",
                             to_string(params.adj)));
    }
    const int64_t out = full - 2 * params.pad_of(i) + params.adj_of(i);
    if (out < 0 || size == 0) {
      infer.in(0).fail(
          fmt::format("an image from which something is left in spatial dimension {}, "
                      "with pad {}",
                      i, to_string(params.pad)));
    }
    return out;
  });
}

bool ConvGeometry::pads_much() const {
  constexpr int64_t kBlock = 16;
  if (simd_level() < 2) return false;  // blocks are smaller
  const auto filled = [](int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; };
  return image_channels > kBlock &&
         2 * filled(image_channels) * filled(map_channels) >= 3 * image_channels * map_channels;
}

bool ConvGeometry::is_pointwise() const {
  for (int i = 0; i < 3; ++i) {
    const auto d = static_cast<std::size_t>(i);
    if (kernel[d] != 1 || stride[d] != 1 || pad[d] != 0 || pad_behind(i) != 0) return false;
  }
  return true;
}

bool ConvGeometry::kernel_meets_image() const {
  for (std::size_t d = 0; d < 3; ++d)
    for (int64_t k = 0; k < kernel[d]; ++k) {
      // The first position of the kernel at which place k is not before the image.
      const int64_t before = pad[d] - k * dilate[d];
      const int64_t position = before > 0 ? (before + stride[d] - 1) / stride[d] : 0;
      if (position >= map[d] || position * stride[d] - before >= image[d]) return false;
    }
  return true;
}

ConvGeometry conv_geometry(const ConvParams& params, const Shape& image, const Shape& map,
                           bool transposed) {
  ConvGeometry g{};
  g.spatial = params.spatial();
  g.channels_last = channels_last(params.layout);
  g.groups = params.num_group;
  g.batch = image[0];
  const int channel = g.channels_last ? g.spatial + 1 : 1;
  g.image_channels = image[channel];
  g.map_channels = map[channel];
  g.image = g.map = g.kernel = g.stride = g.dilate = {1, 1, 1};
  for_each_spatial_dim(g.spatial, g.channels_last, [&](int i, std::size_t d, int axis) {
    g.image[d] = image[axis];
    g.map[d] = map[axis];
    g.kernel[d] = params.kernel[i];
    g.stride[d] = params.stride_of(i);
    g.dilate[d] = params.dilate_of(i);
    g.pad[d] = transposed && params.target_of(i) > 0 ? pad_for_target(params, i, g.map[d])
                                                     : params.pad_of(i);
  });
  return g;
}

}  // namespace mxnet
