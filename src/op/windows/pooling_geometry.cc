// SPDX-License-Identifier: Apache-2.0
// Shapes of Pooling: what parameters must be, and what follows from data.
#include "op/windows/pooling_geometry.h"

#include <fmt/format.h>

#include "op/windows/spatial_dims.h"
#include "op/windows/window_list.h"

namespace mxnet {
namespace {

void check_params(const PoolParams& params, int spatial, Infer& infer) {
  if (params.layout != Layout::kDefault && spatial_of(params.layout) != spatial)
    infer.in(0).fail(fmt::format("{} dimensions, as the layout", spatial_of(params.layout) + 2));
  if (!params.global) {
    if (params.kernel.empty()) infer.fail("given no kernel, expected one or global_pool");
    check_window_list("kernel", params.kernel, 1, spatial, infer);
    check_window_list("stride", params.stride, 1, spatial, infer);
    check_window_list("pad", params.pad, 0, spatial, infer);
    for (int i = 0; i < spatial; ++i) {
      if (params.pad_of(i) >= params.kernel[i]) {
        infer.fail(fmt::format("given pad {} with kernel {}, expected less than the kernel",
                               to_string(params.pad), to_string(params.kernel)));
      }
      if (params.convention == PoolConvention::kSame && params.pad_of(i) != 0)
        infer.fail("given pad with pooling_convention 'same', expected that it is left to this");
    }
  }
  if (params.type == PoolKind::kLp) {
    if (!params.power) infer.fail("given no p_value, expected 1, 2 or 3 for pool_type 'lp'");
    if (*params.power < 1 || *params.power > 3)
      infer.fail(fmt::format("given p_value {}, expected 1, 2 or 3", *params.power));
  }
}

// Places of windows along spatial dimension i.
int64_t places(const PoolParams& params, int i, int64_t size, Infer& infer) {
  const int64_t stride = params.stride_of(i);
  if (params.convention == PoolConvention::kSame) return (size + stride - 1) / stride;
  const int64_t room = size + 2 * params.pad_of(i) - params.kernel[i];
  if (room < 0) {
    infer.in(0).fail(
        fmt::format("a padded image that holds the {} pixels of the kernel in spatial "
                    "dimension {}",
                    params.kernel[i], i));
  }
  return (params.convention == PoolConvention::kFull ? room + stride - 1 : room) / stride + 1;
}

}  // namespace

void infer_pooling(const PoolParams& params, Infer& infer) {
  infer.one_dtype();
  infer_pooled_shape(params, infer);
}

void infer_pooled_shape(const PoolParams& params, Infer& infer) {
  const InferArg data = infer.in(0);
  if (!data.rank_known()) return;
  const int spatial = data.ndim() - 2;
  if (spatial < 1 || spatial > 3)
    data.fail("three to five dimensions: batch, channels and one to three spatial ones");
  check_params(params, spatial, infer);
  const int first = channels_last(params.layout) ? 1 : 2;
  Shape shape = data.shape();
  for (int i = 0; i < spatial; ++i) {
    int64_t& size = shape[first + i];
    if (size == 0) data.fail("spatial dimensions that are not empty");
    if (params.global) {
      size = 1;
    } else if (size > 0) {
      size = places(params, i, size, infer);
    }
  }
  infer.out(0).set_shape(shape);
}

PoolGeometry pool_geometry(const PoolParams& params, const Shape& image, const Shape& map) {
  PoolGeometry g{};
  g.spatial = image.ndim() - 2;
  g.channels_last = channels_last(params.layout);
  g.batch = image[0];
  g.channels = image[g.channels_last ? g.spatial + 1 : 1];
  g.type = params.type;
  g.power = params.power.value_or(1);
  g.zero_padding = params.zero_padding;
  g.include_pad = params.count_include_pad.value_or(true);
  g.image = g.map = g.kernel = g.stride = {1, 1, 1};
  for_each_spatial_dim(g.spatial, g.channels_last, [&](int i, std::size_t d, int axis) {
    g.image[d] = image[axis];
    g.map[d] = map[axis];
    if (params.global) {
      g.kernel[d] = g.image[d];
      return;
    }
    g.kernel[d] = params.kernel[i];
    g.stride[d] = params.stride_of(i);
    g.pad[d] = g.pad_behind[d] = params.pad_of(i);
    if (params.convention == PoolConvention::kSame) {
      const int64_t missing =
          std::max<int64_t>((g.map[d] - 1) * g.stride[d] + g.kernel[d] - g.image[d], 0);
      g.pad[d] = missing / 2;
      g.pad_behind[d] = missing - missing / 2;
    }
  });
  return g;
}

}  // namespace mxnet
