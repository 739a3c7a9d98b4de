// SPDX-License-Identifier: Apache-2.0
// Parameters of Pooling and the places of its windows.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "op/infer.h"
#include "op/windows/conv_geometry.h"

namespace mxnet {

enum class PoolKind : int8_t { kMax, kAvg, kSum, kLp };
enum class PoolConvention : int8_t { kValid, kFull, kSame };

struct PoolParams {
  Shape kernel, stride, pad;
  PoolKind type;
  PoolConvention convention;
  bool global;
  bool cudnn_off;  // without meaning on the CPU
  std::optional<int32_t> power;
  std::optional<bool> count_include_pad;
  // As Pooling_v1 has it: padding is zeros that maxima see, means divide by the whole kernel.
  bool zero_padding;
  Layout layout;

  int64_t stride_of(int i) const { return stride.empty() ? 1 : stride[i]; }
  int64_t pad_of(int i) const { return pad.empty() ? 0 : pad[i]; }
};

// Always three spatial dimensions; missing ones come first and have size 1.
struct PoolGeometry {
  using Sizes = std::array<int64_t, 3>;

  int spatial;
  bool channels_last;
  int64_t batch, channels;
  PoolKind type;
  int power;         // of lp
  bool include_pad;  // averages divide by what the window has of the padded image
  bool zero_padding;
  Sizes image, map, kernel, stride;
  Sizes pad, pad_behind;  // how far windows may lie outside

  int64_t image_size() const { return image[0] * image[1] * image[2]; }
  int64_t map_size() const { return map[0] * map[1] * map[2]; }
  // Pixels [begin, end) of the window at place `at`.
  struct Window {
    int64_t begin, end;
    int64_t size() const { return std::max<int64_t>(end - begin, 0); }
  };
  Window window(int i, int64_t at) const {
    const auto d = static_cast<std::size_t>(i);
    const int64_t begin = at * stride[d] - pad[d];
    return {std::max<int64_t>(begin, 0), std::min(begin + kernel[d], image[d])};
  }
  // What an average counts along this dimension; the divisor is the product of three.
  int64_t counted(int i, int64_t at) const {
    if (zero_padding) return kernel[static_cast<std::size_t>(i)];
    return include_pad ? padded(i, at) : window(i, at).size();
  }
  // What the window has of the padded image.
  int64_t padded(int i, int64_t at) const {
    const auto d = static_cast<std::size_t>(i);
    const int64_t begin = at * stride[d] - pad[d];
    return std::min(begin + kernel[d], image[d] + pad_behind[d]) - begin;
  }
  // Whether a maximum takes part in which padding is a zero. None does behind the padded image.
  bool sees_zero(int64_t z, int64_t y, int64_t x) const {
    const Sizes seen = {padded(0, z), padded(1, y), padded(2, x)};
    return zero_padding && seen[0] > 0 && seen[1] > 0 && seen[2] > 0 &&
           (seen[0] > window(0, z).size() || seen[1] > window(1, y).size() ||
            seen[2] > window(2, x).size());
  }
};

PoolGeometry pool_geometry(const PoolParams& params, const Shape& image, const Shape& map);

// Of input data and output 0, their shapes alone and with their type.
void infer_pooled_shape(const PoolParams& params, Infer& infer);
void infer_pooling(const PoolParams& params, Infer& infer);

}  // namespace mxnet
