// SPDX-License-Identifier: Apache-2.0
// Layers of integers: their parameters, and the rules that the host and kernels share.
#pragma once
#include <algorithm>
#include <cstdint>

#include "op/quantize/range.h"
#include "op/quantize/window.h"
#include "op/windows/layout.h"
#include "op/windows/pooling_geometry.h"

namespace mxnet::quantize {

// Inputs of products: data, weight[, bias], then the ends of their ranges in the same order.
struct FullyConnectedParams {
  int32_t num_hidden;
  bool no_bias, flatten;

  int arrays() const { return no_bias ? 2 : 3; }
};
struct ConvParams {
  Shape kernel, stride, dilate, pad;
  uint32_t num_filter, num_group;
  bool no_bias;
  Layout layout;
  // For devices with a choice of algorithms; without meaning on the CPU.
  uint64_t workspace;
  int8_t cudnn_tune;
  bool cudnn_off;

  int arrays() const { return no_bias ? 2 : 3; }
};

inline Windows windows_of(const ConvParams& params, const Shape& image, const Shape& map) {
  return windows({params.kernel, params.stride, params.dilate, params.pad}, image, map);
}
inline Windows windows_of(const PoolParams& params, const Shape& image, const Shape& map) {
  if (!params.global)
    return windows({params.kernel, params.stride, Shape(), params.pad}, image, map);
  Shape whole(image.ndim() - 2, 1);
  for (int i = 0; i < whole.ndim(); ++i) whole[i] = image[2 + i];
  return windows({whole, Shape(), Shape(), Shape()}, image, map);
}

// How many steps of a fully connected layer's products a step of its bias is, by the ends of the
// ranges of data, weight and bias.
MX_HOST_DEVICE inline double steps_of_bias(float data_end, DType data_type, float weight_end,
                                           float bias_end) {
  const double step = double{data_end} / wide_limit(data_type) * weight_end;
  return step > 0 ? bias_end / step : 0.0;
}
// The same of a convolution. Beside uint8 a bias counts in steps of the products already: existing
// files have it so.
MX_HOST_DEVICE inline double steps_of_map_bias(float data_end, DType data_type, float weight_end,
                                               float bias_end) {
  return data_type == DType::kUInt8 ? 1.0
                                    : steps_of_bias(data_end, data_type, weight_end, bias_end);
}
// A bias in steps of the products.
MX_HOST_DEVICE inline int32_t bias_steps(int8_t bias, double scale) {
  return static_cast<int32_t>(std::clamp(bias * scale, -2147483648.0, 2147483647.0));
}

// Of a window of pixels, `count` of them.
template <class T>
MX_HOST_DEVICE T mean(int64_t sum, int64_t count) {
  return count > 0 ? nearest<T>(static_cast<float>(sum) / static_cast<float>(count)) : T{0};
}

// Steps of a joined array for one of a part's.
MX_HOST_DEVICE inline float steps_of_part(float part_end, DType part_type, float end, DType type) {
  return part_end / wide_limit(part_type) * steps_per_unit(wide_limit(type), end);
}

}  // namespace mxnet::quantize
